/// Does a process that knows the run's secret get in at once, whatever strangers do (native/dsm/process/admission.hpp)?
#include "native/dsm/process/admission.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "native/dsm/wire/sockets.hpp"
#include "tests/catch.hpp"

using namespace sdsm::dsm;

namespace {

class Door {
 public:
  explicit Door(Transport transport)
      : listener_(listen_on(transport, "127.0.0.1", address_)), admission_(listener_, secret_) {}
  ~Door() {
    for (const int socket : sockets_) close(socket);
  }

  Admission& admission() { return admission_; }

  int come() {
    sockets_.push_back(connect_to(address_));
    REQUIRE(sockets_.back() >= 0);
    return sockets_.back();
  }
  void say(int socket, const void* bytes, std::size_t count) {
    REQUIRE(send(socket, bytes, count, MSG_NOSIGNAL) == static_cast<ssize_t>(count));
  }
  Hello hello(std::uint32_t process) const {
    Hello hello;
    std::memcpy(hello.secret, secret_, sizeof secret_);
    hello.process = process;
    return hello;
  }
  void come_in(std::uint32_t process) {
    const Hello own = hello(process);
    say(come(), &own, sizeof own);
  }

 private:
  std::string address_;
  int listener_;
  std::uint8_t secret_[secret_bytes] = {1, 2, 3};
  Admission admission_;
  std::vector<int> sockets_;
};

constexpr int patience_ms = 30'000;

}  // namespace

TEST_CASE("strangers, silent, wrong or talkative, delay nobody's admission") {
  Door door(GENERATE(Transport::tcp, Transport::unix_sockets));
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 50; ++i) door.come();
  const int half = door.come();
  const Hello right = door.hello(3);
  door.say(half, &right, sizeof right - 1);
  const std::string nonsense = "GET / HTTP/1.0\r\n\r\n and more than a greeting has bytes, so that it is looked at";
  door.say(door.come(), nonsense.data(), nonsense.size());
  Hello wrong = door.hello(1);
  wrong.secret[secret_bytes - 1] ^= 1;
  door.say(door.come(), &wrong, sizeof wrong);
  close(door.come());
  door.come_in(2);
  const auto arrival = door.admission().next(patience_ms);
  REQUIRE(arrival);
  CHECK(arrival->hello.process == 2);
  // Who speaks slowly gets in as well.
  door.say(half, reinterpret_cast<const char*>(&right) + sizeof right - 1, 1);
  const auto second = door.admission().next(patience_ms);
  REQUIRE(second);
  CHECK(second->hello.process == 3);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(5));
  CHECK_FALSE(door.admission().next(0));
  CHECK(door.admission().error() == 0);
  close(arrival->socket);
  close(second->socket);
}

TEST_CASE("a late stranger displaces an earlier one") {
  Door door(Transport::unix_sockets);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 200; ++i) door.come();
    CHECK_FALSE(door.admission().next(0));
  }
  door.come_in(5);
  const auto arrival = door.admission().next(patience_ms);
  REQUIRE(arrival);
  CHECK(arrival->hello.process == 5);
  close(arrival->socket);
}

TEST_CASE("bytes after the greeting are left for the admitted") {
  Door door(Transport::tcp);
  const int socket = door.come();
  const Hello own = door.hello(1);
  door.say(socket, &own, sizeof own);
  door.say(socket, "more", 4);
  const auto arrival = door.admission().next(patience_ms);
  REQUIRE(arrival);
  char more[4];
  CHECK(receive_all(arrival->socket, more, sizeof more));
  CHECK(std::string(more, 4) == "more");
  close(arrival->socket);
}
