/// A page of another process is fetched at its first touch after a synchronisation, and what is written goes home at
/// the next one. Copies do not outlive it.
#include <array>

#include "models/protocol/tables.hpp"

namespace sdsm::write_through {
namespace {

constexpr std::array<FaultRow, 1> faults{{{"MISS", Access::read, true, false}}};
constexpr std::array<MessageRow, 5> messages{
    {{"ask", true}, {"page", true}, {"words", true}, {"come", true}, {"go", true}}};
constexpr Bytes head{16};

using enum protocol::Action;
constexpr std::array acquire{flush, ask, begin_interval};
constexpr std::array release{flush, send};
constexpr std::array barrier{flush, ask, begin_interval};

constexpr Tables table{.faults = faults,
                       .messages = messages,
                       .request = 0,
                       .reply = 1,
                       .request_payload = head,
                       .reply_beside_page = head,
                       .least_payload = head,
                       .most_payload = head + Bytes{4096},
                       .traits = {.shares_copies = false,
                                  .sees_plain_stores = false,
                                  .has_gang_barriers = false,
                                  .keeps_locks = false,
                                  .operates_in_lock = true},
                       .courses = {acquire, release, barrier}};

}  // namespace

const Tables& tables() {
  return table;
}

}  // namespace sdsm::write_through
