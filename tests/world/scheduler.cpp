#include "tests/world/scheduler.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "native/dsm/wire/wire.hpp"
#include "tests/world/oracle.hpp"

/// Goes on where `to` was left, and leaves the caller at `from`: saves what a function must preserve.
extern "C" void world_switch(void** from, void* to);
asm(R"(
.text
.globl world_switch
.type world_switch, @function
world_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size world_switch, .-world_switch
)");

namespace sdsm::world {
namespace {

using dsm::Head;
using Made = Step::Kind;

std::byte* map(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no address space");
  return static_cast<std::byte*>(memory);
}

/// A stack on which some work can be left and gone on with. The work never returns.
class Coroutine {
 public:
  void begin(void (*work)()) {
    auto* const top = reinterpret_cast<void**>(stack_ + bytes);
    top[-2] = reinterpret_cast<void*>(work);  // world_switch returns to it, with the stack as after a call
    there_ = top - 8;
  }
  void go_on(void** here) { world_switch(here, there_); }
  void leave_for(void* here) { world_switch(&there_, here); }

 private:
  static constexpr std::size_t bytes = std::size_t{1} << 18;
  std::byte* stack_ = map(bytes);
  void* there_ = nullptr;
};

/// Messages from one thread to another, in their order.
class Fifo {
 public:
  bool is_empty() const { return bytes_.size() == read_; }
  void clear() {
    bytes_.clear();
    read_ = 0;
  }
  void add(const void* data, std::size_t count) {
    const auto* const begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + count);
  }
  void take(void* data, std::size_t count) {
    std::memcpy(data, bytes_.data() + read_, count);
    read_ += count;
    if (is_empty()) clear();
  }
  Head first() const {
    Head head;
    std::memcpy(&head, bytes_.data() + read_, sizeof head);
    return head;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t read_ = 0;
};

/// An enumerator's name, as the compiler knows it.
template <dsm::WireKind kind>
std::string_view own_name() {
  std::string_view name = __PRETTY_FUNCTION__;
  name = name.substr(name.find("kind = ") + 7);
  name = name.substr(0, name.find_first_of(";]"));
  return name.substr(name.rfind(':') + 1);
}
template <std::size_t... numbers>
std::string name_of(dsm::WireKind kind, std::index_sequence<numbers...>) {
  static const std::array names{own_name<static_cast<dsm::WireKind>(numbers)>()...};
  return std::string(names[static_cast<std::size_t>(kind)]);
}
/// The number of the program's page there; `pages` if there is none.
std::uint32_t page_at(std::uintptr_t address) {
  for (const auto& [begin, first, count] :
       {std::tuple(shared_begin, 0U, shared_pages), std::tuple(stacks_begin, shared_pages, most_processes)}) {
    if (address - begin < count * page_length)
      return first + static_cast<std::uint32_t>((address - begin) / page_length);
  }
  return pages;
}
std::uintptr_t address_of(const Step& step) {
  const std::uintptr_t begin = step.page < shared_pages ? shared_begin + step.page * page_length
                                                        : stacks_begin + (step.page - shared_pages) * page_length;
  return begin + step.word * 4;
}

std::string text_of(const Head& head) {
  constexpr auto count = static_cast<std::size_t>(dsm::WireKind::exit_run) + 1;
  std::string text = name_of(head.kind, std::make_index_sequence<count>());
  const std::uint32_t number = page_at(head.address);
  if (number < pages) text += " of " + name_of_page(number);
  return text;
}

/// Memory that is put back before each schedule: those pages of it that have ever been written.
class Kept {
 public:
  Kept(std::byte* begin, std::size_t bytes)
      : begin_(begin), content_(begin, begin + (bytes + page_length - 1) / page_length * page_length) {
    mprotect(begin_, content_.size(), PROT_READ);
  }
  void put_back() {
    for (const std::size_t at : written_) std::memcpy(begin_ + at, content_.data() + at, page_length);
  }
  /// False if the fault at `address` is none of a first store.
  bool take_fault(std::uintptr_t address) {
    const std::size_t at = (address - reinterpret_cast<std::uintptr_t>(begin_)) / page_length * page_length;
    if (at >= content_.size() || std::find(written_.begin(), written_.end(), at) != written_.end()) return false;
    written_.push_back(at);
    mprotect(begin_ + at, page_length, PROT_READ | PROT_WRITE);
    return true;
  }

 private:
  std::byte* begin_;
  std::vector<std::byte> content_;
  std::vector<std::size_t> written_;
};

}  // namespace

struct World::Inside {
  struct Actor final : Ground {
    Inside* world = nullptr;
    std::uint32_t number = 0;
    void* library = nullptr;
    const Process* process = nullptr;
    std::vector<Kept> variables;
    std::byte* old_memory = map(std::size_t{64} << 20);
    std::byte* large_memory = map(std::size_t{1} << 30);

    // Of a schedule.
    Coroutine thread;
    std::byte* next_memory = nullptr;
    bool has_large_memory = false;
    std::size_t node_bytes = 0;
    std::vector<Step> steps;
    std::size_t next_step = 0;
    bool is_through = false;
    bool has_waited = false;
    bool (*is_due)(const void*) = nullptr;
    const void* awaited = nullptr;
    const char* why = "";
    std::uint64_t woken_ns = 0;
    std::uint64_t ran_ns = 0;
    std::uint8_t rights[pages] = {};
    std::uint32_t barriers = 0;
    Fifo questions[most_processes];  ///< to the service thread, by sender
    Fifo answers[most_processes];    ///< to the application thread
    bool has_put_off = false;
    std::uint32_t tried_at = 0;

    void pass() override { world->leave(*this); }
    void wait_until(bool (*due)(const void*), const void* what, const char* reason) override {
      while (!due(what)) {
        if (world->serving != nullptr) fail("a service thread would have to wait");
        is_due = due;
        awaited = what;
        why = reason;
        world->leave(*this);
      }
      is_due = nullptr;
    }
    void sleep(std::uint64_t ns) override {
      woken_ns = world->now + ns;
      wait_until([](const void* self) { return static_cast<const Actor*>(self)->has_slept(); }, this, "a time");
    }
    bool has_slept() const { return woken_ns <= world->now; }
    void send(std::uint32_t to, bool is_answer, const void* head, std::size_t head_bytes, const void* payload,
              std::size_t bytes) override {
      Actor& other = world->actors[to];
      Fifo& fifo = is_answer ? other.answers[number] : other.questions[number];
      std::uint64_t parts[sizeof(Head) / 8];
      std::memcpy(parts, head, sizeof parts);
      for (const std::uint64_t part : parts) world->fingerprint = dsm::hash_with(world->fingerprint, part);
      fifo.add(head, head_bytes);
      fifo.add(payload, bytes);
      if (is_answer)
        world->note(
            [&] { return "  answers thread " + std::to_string(to) + ": " + text_of(*static_cast<const Head*>(head)); });
    }
    void receive(std::uint32_t from, void* data, std::size_t bytes) override {
      Fifo& fifo = answers[from];
      pass();
      wait_until([](const void* what) { return !static_cast<const Fifo*>(what)->is_empty(); }, &fifo, "an answer");
      fifo.take(data, bytes);
    }
    std::uint64_t now_ns() override { return world->now; }
    std::uint64_t processor_time_ns() override { return ran_ns; }
    void protect(std::uintptr_t begin, std::uintptr_t end, int protection) override {
      for (std::uintptr_t at = begin; at < end; at += page_length) {
        const std::uint32_t one = page_at(at);
        if (one < pages) rights[one] = static_cast<std::uint8_t>(protection);
      }
    }
    std::byte* node_memory(std::size_t bytes) override {
      return node_begin() + std::exchange(node_bytes, node_bytes + bytes);
    }
    std::byte* node_begin() const { return world->nodes[world->node_of(number)]; }
    void* memory(std::size_t bytes, bool may_be_old) override {
      if (bytes > std::size_t{1} << 20) {  // of regions, which are numbered before they are used
        if (std::exchange(has_large_memory, true)) fail("an error of the world's: a second large block");
        return large_memory;
      }
      void* const begin = std::exchange(next_memory, next_memory + (bytes + 15) / 16 * 16);
      if (!may_be_old) std::memset(begin, 0, bytes);
      return begin;
    }
    void wake_service() override { has_put_off = true; }
    void note_operation(const void* where, std::uint64_t before, std::uint64_t after) override {
      const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(where) - world->content_of(number, 0));
      const auto behind = static_cast<std::uint32_t>(at / page_length),
                 word = static_cast<std::uint32_t>(at % page_length / 4);
      const std::uint32_t one = behind < shared_pages ? behind : behind - shared_pages;  // twins lie between
      if (before != world->oracle.last(one, word))
        fail(("an atomic operation finds " + std::to_string(before) + " instead of " +
              std::to_string(world->oracle.last(one, word)))
                 .c_str());
      world->oracle.operate(one, word, static_cast<std::uint32_t>(after));
    }
    [[noreturn]] void fail(const char* what) override {
      if (world->serving == nullptr && world->running == nullptr) throw std::runtime_error(what);
      world->failure = what;
      void* nowhere = nullptr;
      world_switch(&nowhere, world->scheduler);
      __builtin_unreachable();
    }
  };

  Actor actors[most_processes];
  std::byte* nodes[most_processes];
  Coroutine service;
  Program program;

  // Of a schedule.
  std::string failure;
  Oracle oracle;
  std::uint32_t holder[2] = {};
  std::uint64_t now = 0;
  std::uint32_t steps = 0;
  std::uint32_t changes_so_far = 0;  ///< steps but those that try again what was put off
  std::uint32_t skips = 0;           ///< of time, since the last one
  std::uint64_t fingerprint = 0;
  Actor* running = nullptr;
  Actor* serving = nullptr;
  std::uint32_t asker = 0;  ///< of what is served; most_processes: what was put off
  void* scheduler = nullptr;
  std::vector<std::string>* log = nullptr;

  // Of the order.
  std::mt19937_64 random;
  static constexpr std::uint32_t most_choices = 2 * most_processes + most_processes * most_processes;
  std::uint32_t priorities[most_choices];
  std::vector<std::uint32_t> changes;
  std::uint32_t least = 0;

  std::uint32_t processes() const { return program.setup.layout.processes(); }
  std::uint32_t node_of(std::uint32_t process) const {
    return program.setup.protocol == *protocol_named("jiajia") ? process
                                                               : process / program.setup.layout.threads_per_node;
  }
  /// Behind the node's tables: the shared pages, their twins, the stacks and theirs.
  std::byte* content_of(std::uint32_t process, std::uint32_t number) {
    const std::uint32_t before = number < shared_pages ? number : number + shared_pages;
    return nodes[node_of(process)] + (std::size_t{1} << 19) + before * page_length;
  }

  template <typename Text>
  void note(Text text) {
    if (log != nullptr) log->push_back(text());
  }

  void leave(Actor& actor) {
    if (serving == nullptr && running == &actor) actor.thread.leave_for(scheduler);
  }

  // The program.

  static Inside* only;
  static void run_thread() {
    Inside& world = *only;
    Actor& self = *world.running;
    for (; self.next_step < self.steps.size(); ++self.next_step) world.execute(self, self.steps[self.next_step]);
    self.is_through = true;
    self.thread.leave_for(world.scheduler);
  }

  std::uint32_t& reach(Actor& self, const Step& step, bool is_write) {
    const std::uint8_t right = is_write ? PROT_WRITE : PROT_READ;
    self.pass();
    while ((self.rights[step.page] & right) == 0) {
      note([&] {
        return "thread " + std::to_string(self.number) + " faults at a " + (is_write ? "store to " : "load of ") +
               name_of_page(step.page);
      });
      self.process->fault(address_of(step), is_write, self.next_step);
      self.pass();
    }
    return reinterpret_cast<std::uint32_t*>(content_of(self.number, step.page))[step.word];
  }

  const std::uint32_t& load(Actor& self, const Step& step) {
    const std::uint32_t& word = reach(self, step, false);
    note([&] { return world::text_of(step) + ": finds " + std::to_string(word); });
    if (!oracle.may_load(self.number, step.page, step.word, word))
      self.fail((world::text_of(step) + ", and finds " + std::to_string(word) + " instead of " +
                 std::to_string(oracle.last(step.page, step.word)))
                    .c_str());
    return word;
  }

  void execute(Actor& self, const Step& step) {
    if (step.kind == Made::load) return static_cast<void>(load(self, step));
    if (step.kind != Made::store && step.kind != Made::acquire) note([&] { return world::text_of(step); });
    switch (step.kind) {
      case Made::store:
        reach(self, step, true) = step.value;
        oracle.store(self.number, step.page, step.word, step.value);
        break;
      case Made::add: return static_cast<void>(self.process->add(address_of(step), step.value));
      case Made::post: {
        oracle.post(self.number, step.page, step.value);
        const std::uint32_t before = step.value - 1;
        if (self.process->add(address_of(step), 1) != before) self.fail("a post found another value");
        return;
      }
      case Made::await_post: {
        std::uint32_t found = 0;
        while ((found = self.process->add(address_of(step), 0)) < step.value) self.pass();
        return oracle.find(self.number, step.page, found);
      }
      case Made::acquire:
        self.process->acquire(step.value);
        if (std::exchange(holder[step.value], 1) != 0) self.fail("two threads hold a lock");
        oracle.acquire(self.number, step.value);
        break;
      case Made::release:
        holder[step.value] = 0;
        oracle.release(self.number, step.value);
        return self.process->release(step.value);
      case Made::barrier:
        oracle.arrive(self.number, self.barriers);
        self.process->barrier();
        return oracle.leave(self.number, self.barriers++);
      default: return await(self, step);
    }
    note([&] { return world::text_of(step); });
  }

  /// A loop that waits for a plain store. As the run-time does, it rests while the page is open and shows nothing new.
  void await(Actor& self, const Step& step) {
    if (!std::exchange(self.has_waited, true)) self.process->wait();
    for (;;) {
      const std::uint32_t& word = load(self, step);
      const std::uint32_t seen = word;
      if (seen >= step.value) return;
      self.process->show();
      if (step.page >= shared_pages) {
        // Its owner stores there unnoticed: the loop turns until the run-time takes its next sample.
        constexpr std::uint64_t between_samples_ns = 2'000'000;
        self.sleep(between_samples_ns);
        self.ran_ns += between_samples_ns;
        self.process->look();
        continue;
      }
      struct Resting {
        const std::uint32_t* word;
        std::uint32_t seen;
        const std::uint8_t* right;
      } const resting{&word, seen, &self.rights[step.page]};
      self.wait_until(
          [](const void* what) {
            const auto& one = *static_cast<const Resting*>(what);
            return *one.word != one.seen || *one.right == 0;
          },
          &resting, "a plain store");
    }
  }

  // The order.

  static constexpr std::uint32_t of_service = most_processes;
  static constexpr std::uint32_t of_message = 2 * most_processes;

  bool is_enabled(std::uint32_t choice) {
    if (choice < of_service) {
      const Actor& actor = actors[choice];
      return choice < processes() && !actor.is_through && (actor.is_due == nullptr || actor.is_due(actor.awaited));
    }
    if (choice < of_message) {
      const Actor& actor = actors[choice - of_service];
      return actor.has_put_off && actor.tried_at != changes_so_far;
    }
    const std::uint32_t pair = choice - of_message;
    return !actors[pair % most_processes].questions[pair / most_processes].is_empty();
  }

  void begin_order(const Order& order) {
    random.seed(order.seed);
    least = most_choices;
    for (std::uint32_t i = 0; i < most_choices; ++i) priorities[i] = most_choices + i;
    std::shuffle(priorities, priorities + most_choices, random);
    changes.clear();
    for (std::uint32_t i = 0; i < order.changes; ++i) changes.push_back(static_cast<std::uint32_t>(random() % 400));
  }

  std::optional<std::uint32_t> choose(const Order& order) {
    std::uint32_t enabled[most_choices];
    std::uint32_t count = 0;
    for (std::uint32_t choice = 0; choice < most_choices; ++choice) {
      if (is_enabled(choice)) enabled[count++] = choice;
    }
    if (count == 0) return {};
    // Two threads that take a page from each other may keep a third from running: in the long run the order is fair.
    constexpr std::uint32_t unfair_steps = 1000;
    if (order.is_uniform || changes_so_far > unfair_steps || random() % 64 == 0) return enabled[random() % count];
    const auto highest = [&] {
      return *std::max_element(enabled, enabled + count, [&](std::uint32_t one, std::uint32_t other) {
        return priorities[one] < priorities[other];
      });
    };
    if (std::find(changes.begin(), changes.end(), steps) != changes.end()) priorities[highest()] = --least;
    return highest();
  }

  static void serve() {
    Inside& world = *only;
    Actor& self = *world.serving;
    self.process->become(false);
    if (world.asker < most_processes) {
      Fifo& fifo = self.questions[world.asker];
      const Head head = fifo.first();
      alignas(16) std::byte message[sizeof head + 16 * page_length];
      fifo.take(message, sizeof head + head.bytes);
      world.note([&] {
        return "process " + std::to_string(self.number) + " gets process " + std::to_string(world.asker) + "'s " +
               text_of(head);
      });
      self.process->handle(world.asker, message);
    }
    self.has_put_off = self.process->try_again();
    self.process->become(true);
    Inside* const done = &world;
    done->service.leave_for(done->scheduler);
  }

  void take_step(std::uint32_t choice) {
    ++steps;
    now += 1000;
    fingerprint = dsm::hash_with(fingerprint, choice);
    if (choice < of_service || choice >= of_message) {
      ++changes_so_far;
      skips = 0;
    }
    if (choice < of_service) {
      running = &actors[choice];
      running->ran_ns += 100;
      running->thread.go_on(&scheduler);
      running = nullptr;
      return;
    }
    const std::uint32_t pair = choice - of_message;
    serving = &actors[choice < of_message ? choice - of_service : pair % most_processes];
    asker = choice < of_message ? most_processes : pair / most_processes;
    service.begin(serve);
    service.go_on(&scheduler);
    serving->tried_at = changes_so_far;
    serving = nullptr;
  }

  /// Nothing can go on before a time has come. False if no time helps: what is put off is tried again ever later, for
  /// twice as long as pages are kept.
  bool skip_time() {
    constexpr std::uint64_t again_ns = 50'000;
    constexpr std::uint32_t most_skips = 12;
    std::uint64_t until = ~std::uint64_t{0};
    for (Actor& actor : actors) {
      if (!actor.is_through && actor.is_due != nullptr && actor.woken_ns > now) until = std::min(until, actor.woken_ns);
      if (!actor.has_put_off || skips > most_skips) continue;
      until = std::min(until, now + (again_ns << skips));
      actor.tried_at = ~0U;
    }
    if (until == ~std::uint64_t{0}) return false;
    ++skips;
    now = until;
    return true;
  }

  std::string who_waits() {
    std::string text = "the program hangs:";
    for (std::uint32_t i = 0; i < processes(); ++i) {
      if (!actors[i].is_through)
        text += " thread " + std::to_string(i) + " waits for " +
                (actors[i].is_due == nullptr ? "its turn" : actors[i].why) + ";";
    }
    return text;
  }

  void put_back() {
    for (std::uint32_t i = 0; i < most_processes; ++i) {
      Actor& actor = actors[i];
      for (Fifo& fifo : actor.questions) fifo.clear();
      for (Fifo& fifo : actor.answers) fifo.clear();
      actor.is_through = i >= processes();
      if (actor.is_through) continue;
      for (Kept& kept : actor.variables) kept.put_back();
      std::memset(actor.rights, PROT_READ | PROT_WRITE, sizeof actor.rights);
      std::memset(content_of(i, 0), 0, 2 * pages * page_length);
      actor.next_memory = actor.old_memory;
      actor.has_large_memory = false;
      actor.node_bytes = 0;
      actor.next_step = 0;
      actor.barriers = 0;
      actor.has_waited = actor.has_put_off = false;
      actor.is_due = nullptr;
      actor.woken_ns = actor.ran_ns = 0;
      actor.steps.clear();
    }
    oracle = {};
    std::memset(holder, 0, sizeof holder);
    failure.clear();
    now = 1'000'000'000;
    steps = changes_so_far = skips = 0;
    fingerprint = 0;
  }

  void run(const Order& order) {
    constexpr std::uint32_t most_changes = 50'000;
    put_back();
    begin_order(order);
    for (const Step& step : program.steps) actors[step.thread].steps.push_back(step);
    for (std::uint32_t i = 0; i < processes(); ++i) {
      Setup setup = program.setup;
      setup.process = i;
      actors[i].process->start(actors[i], setup);
      actors[i].thread.begin(run_thread);
    }
    const auto is_through = [](const Actor& actor) { return actor.is_through; };
    while (failure.empty() && !std::all_of(std::begin(actors), std::end(actors), is_through)) {
      const auto choice = choose(order);
      if (choice) take_step(*choice);
      if ((!choice && !skip_time()) || changes_so_far > most_changes) failure = who_waits();
    }
  }

  // Copies of the library.

  void load(Actor& actor, const std::string& content, int fault) {
    const int file = memfd_create("process", MFD_CLOEXEC);  // stays open: the linker knows a library by its name
    if (write(file, content.data(), content.size()) != static_cast<ssize_t>(content.size()))
      throw std::runtime_error("a copy of the library cannot be made");
    actor.library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (actor.library == nullptr) throw std::runtime_error(dlerror());
    actor.process = reinterpret_cast<decltype(&world_process)>(dlsym(actor.library, "world_process"))();
    auto* const planted = static_cast<int*>(dlsym(actor.library, "planted_fault"));
    if (planted == nullptr && fault != 0) throw std::runtime_error("the library has no planted faults");
    if (planted != nullptr) *planted = fault;
    link_map* loaded = nullptr;
    dlinfo(actor.library, RTLD_DI_LINKMAP, &loaded);
    std::pair<link_map*, Actor*> found{loaded, &actor};
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* data) {
          const auto& [map, of] = *static_cast<decltype(found)*>(data);
          if (object->dlpi_addr != map->l_addr) return 0;
          std::uintptr_t read_only_end = 0;  // behind relocation
          for (int i = 0; i < object->dlpi_phnum; ++i) {
            const auto& part = object->dlpi_phdr[i];
            if (part.p_type == PT_GNU_RELRO)
              read_only_end =
                  (object->dlpi_addr + part.p_vaddr + part.p_memsz + page_length - 1) / page_length * page_length;
          }
          for (int i = 0; i < object->dlpi_phnum; ++i) {
            const auto& part = object->dlpi_phdr[i];
            if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
            const std::uintptr_t begin = std::max(object->dlpi_addr + part.p_vaddr, read_only_end);
            const std::uintptr_t end = object->dlpi_addr + part.p_vaddr + part.p_memsz;
            auto* const from = reinterpret_cast<std::byte*>(begin);
            if (begin < end) of->variables.emplace_back(from, end - begin);
          }
          return 1;
        },
        &found);
  }
};

World::Inside* World::Inside::only = nullptr;

World::World(const std::string& library, int fault) : inside_(std::make_unique<Inside>()) {
  std::ifstream file(library, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  if (content.empty()) throw std::runtime_error(library + " cannot be read");
  Inside::only = inside_.get();
  for (std::uint32_t i = 0; i < most_processes; ++i) {
    Inside::Actor& actor = inside_->actors[i];
    actor.world = inside_.get();
    actor.number = i;
    inside_->nodes[i] = map(std::size_t{1} << 20);
    inside_->load(actor, content, fault);
  }
  // A crash of the product's own ends the schedule that it happens in.
  struct sigaction crash {};
  crash.sa_flags = SA_NODEFER | SA_SIGINFO;
  crash.sa_sigaction = [](int, siginfo_t* info, void*) {
    Inside& world = *Inside::only;
    for (Inside::Actor& one : world.actors) {
      for (Kept& kept : one.variables) {
        if (kept.take_fault(reinterpret_cast<std::uintptr_t>(info->si_addr))) return;
      }
    }
    Inside::Actor* const actor = world.serving != nullptr ? world.serving : world.running;
    if (actor == nullptr) std::abort();
    actor->fail("the run-time crashes");
  };
  sigaction(SIGSEGV, &crash, nullptr);
}

World::~World() = default;

Outcome World::run(const Program& program, const Order& order, bool wants_log) {
  Outcome outcome;
  inside_->program = program;
  inside_->log = wants_log ? &outcome.log : nullptr;
  inside_->run(order);
  outcome.failure = inside_->failure;
  outcome.steps = inside_->steps;
  outcome.fingerprint = inside_->fingerprint;
  if (wants_log && !outcome.failure.empty()) outcome.log.push_back(outcome.failure);
  return outcome;
}

}  // namespace sdsm::world
