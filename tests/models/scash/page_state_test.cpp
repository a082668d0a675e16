#include "models/scash/page_state.hpp"

#include <set>
#include <string>
#include <tuple>

#include "tests/catch.hpp"

using namespace sdsm;

namespace {

constexpr Access accesses[] = {Access::read, Access::write};
constexpr Permission permissions[] = {Permission::unmapped, Permission::read_only, Permission::read_write};
constexpr Owner owners[] = {Owner::home, Owner::local, Owner::remote};

}  // namespace

TEST_CASE("a fault's name spells its access, the permission before and the owner") {
  for (const FaultRule& rule : fault_rules) {
    const std::string name(rule.name);
    CAPTURE(name);
    REQUIRE(name.size() == 4);
    CHECK((name[0] == 'R') == (rule.access == Access::read));
    const std::string before = name.substr(1, 2);
    CHECK(before == (rule.before == Permission::unmapped ? "UM" : rule.before == Permission::read_only ? "RO" : "RW"));
    CHECK(name[3] == (rule.owner == Owner::home ? 'H' : rule.owner == Owner::local ? 'L' : 'R'));
    CHECK(&rule == &rule_of(rule.kind));
    CHECK(name_of(rule.kind) == name);
  }
}

TEST_CASE("each row requests, fetches and twins as the published table says") {
  // Rows of [WR-env] that send a request, fetch the page, make a twin.
  const std::set<std::string> requests{"WROL", "WROR", "WUMR", "RRWR", "RROR", "RUMR"};
  const std::set<std::string> fetches{"WUMR", "RUMR"};
  const std::set<std::string> twins{"WROL", "WROR", "WUMR"};
  std::set<std::string> seen;
  for (const FaultRule& rule : fault_rules) {
    const std::string name(rule.name);
    CAPTURE(name);
    CHECK(rule.sends_request == (requests.count(name) == 1));
    CHECK(rule.fetches_page == (fetches.count(name) == 1));
    CHECK(rule.makes_twin == (twins.count(name) == 1));
    CHECK(fault_of(rule.access, rule.before, rule.owner) == rule.kind);
    seen.insert(name);
  }
  CHECK(seen == std::set<std::string>{"WROH", "WROL", "WROR", "WRWH", "WRWL", "WRWR", "WUMR", "RRWR", "RROR", "RUMR"});
}

TEST_CASE("home and local pages never trap on a read") {
  for (const Owner owner : {Owner::home, Owner::local}) {
    for (const Access access : accesses) CHECK_FALSE(fault_of(access, Permission::unmapped, owner));
    for (const Permission before : permissions) CHECK_FALSE(fault_of(Access::read, before, owner));
    CHECK(resting(owner, HomePages::read_only) == Permission::read_only);
    CHECK_FALSE(traps(Access::read, resting(owner, HomePages::read_only)));
    for (const Access access : accesses) CHECK_FALSE(traps(access, resting(owner, HomePages::open)));
  }
  for (const HomePages pages : {HomePages::read_only, HomePages::open}) {
    CHECK(resting(Owner::remote, pages) == Permission::unmapped);
  }
}

TEST_CASE("after a fault the access that trapped goes through") {
  for (const FaultRule& rule : fault_rules) {
    CAPTURE(rule.name);
    CHECK_FALSE(traps(rule.access, rule.process_after));
  }
}

TEST_CASE("faults give no process more than its node has") {
  for (const FaultRule& rule : fault_rules) {
    CAPTURE(rule.name);
    CHECK(rule.process_after <= rule.node_after);
    CHECK(rule.node_after >= rule.before);
  }
}

TEST_CASE("exactly making another's page writable makes a twin") {
  for (const FaultRule& rule : fault_rules) {
    CAPTURE(rule.name);
    const bool becomes_writable = rule.before != Permission::read_write && rule.node_after == Permission::read_write;
    CHECK(rule.makes_twin == (becomes_writable && rule.owner != Owner::home));
  }
}

TEST_CASE("each synchronisation drops what its rule says, after its flush") {
  // At a barrier every process of the node flushes its own changes, at an acquire one does it for all. A release
  // flushes all that the process wrote, whatever process twinned it.
  for (const auto& [sync, flushes, drops_copies, rests_home_pages] :
       {std::tuple{Sync::release, Flushes::written, false, false},
        {Sync::acquire, Flushes::node, true, false},
        {Sync::barrier, Flushes::own, true, true}}) {
    CHECK(rule_of(sync).flushes == flushes);
    CHECK(rule_of(sync).drop_copies == drops_copies);
    CHECK(rule_of(sync).rest_home_pages == rests_home_pages);
  }
}
