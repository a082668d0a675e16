#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <pugixml.hpp>
#include <tuple>
#include <utility>

#include "commands/input.hpp"
#include "models/scash/page_state.hpp"
#include "platforms/file/changes.hpp"
#include "platforms/file/lint.hpp"
#include "platforms/file/platform.hpp"
#include "platforms/file/properties.hpp"

namespace sdsm {
namespace platform_file {
namespace {

double error_of_mean(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1) / count);
}

/// Deepest nesting of elements: no machine needs more, and the stack can hold it.
constexpr int most_depth = 64;

class Reader {
 public:
  Reader(std::filesystem::path path, std::string text, const Settings& settings)
      : path_(std::move(path)), text_(std::move(text)), settings_(settings), changes_(settings.changes) {
    for (std::size_t at = 0; (at = text_.find('\n', at)) != std::string::npos; ++at) {
      line_ends_.push_back(static_cast<std::ptrdiff_t>(at));
    }
  }

  Platform read() {
    refuse_blanks();
    if (text_.starts_with("\xEF\xBB\xBF"))
      report(0, "begins with a byte order mark, which SimGrid cannot read. Save it as UTF-8 without one");
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(text_.data(), text_.size());
    if (!parsed) {
      report(parsed.offset,
             fmt::format("not well-formed XML ({}). Mend the markup here, or give a SimGrid platform file",
                         parsed.description()));
      throw PlatformError(findings_);
    }
    const pugi::xml_node root = document.child("platform");
    if (!root) {
      report(0, "no <platform> element. Give a SimGrid platform file");
      throw PlatformError(findings_);
    }
    const pugi::xml_node zone = root.child("zone") ? root.child("zone") : root.child("AS");
    if (!zone) {
      report(root.offset_debug(), "no <zone> in the <platform>. Put hosts, links, routes and properties into one");
      throw PlatformError(findings_);
    }
    lint_.emplace(root);
    visit(root, zone, 0);
    change_the_rest();
    require(zone);
    check_errors();
    std::vector<std::string> assumed = assumed_properties();
    if (!findings_.empty()) throw PlatformError(findings_);
    const LinkSpec link = reference_link();
    keep_messages_of_faults();
    std::vector<UncertainCost> uncertain = uncertain_costs();
    const std::optional<WireModel> model = notes_.empty() ? std::nullopt : std::optional(settings_.model);
    note_unlikely_faults();
    note_settings(root);
    return {path_,
            std::move(reading_.costs),
            std::move(order_),
            std::move(uncertain),
            reading_.message_correlation,
            reading_.calibrated,
            link,
            bandwidth_,
            latency_,
            settings_.changes,
            changes_.recorded(),
            model,
            std::move(notes_),
            std::move(protocols_),
            std::move(host_speeds_),
            reading_.speed_origin,
            reading_.host_memory,
            std::move(assumed)};
  }

 private:
  void refuse_blanks() {
    constexpr const char* blanks = " \t\r\n";
    for (std::size_t at = 0; (at = text_.find_first_of(blanks, at)) != std::string::npos;) {
      const std::size_t end = std::min(text_.find_first_not_of(blanks, at), text_.size());
      if (end - at > most_blanks) {
        report(static_cast<std::ptrdiff_t>(at), fmt::format("{} blanks in a row. Leave them out", end - at));
        throw PlatformError(findings_);
      }
      at = end;
    }
  }

  /// Reads properties of the outermost zone. Own ones of hosts and links are errors; other programs' mean nothing here.
  void visit(pugi::xml_node node, pugi::xml_node zone, int depth) {
    if (depth > most_depth) {
      return report(node.offset_debug(),
                    fmt::format("elements lie more than {} deep in each other. Mend the markup here", most_depth));
    }
    for (const pugi::xml_node child : node.children()) {
      const std::ptrdiff_t at = child.offset_debug();
      for (const std::string& problem : lint_->problems_of(child, line_of(at))) report(at, problem);
      keep_links(child);
      keep_speed(child);
      if (std::string_view(child.name()) != "prop") {
        visit(child, zone, depth + 1);
      } else if (node == zone) {
        read_property(child);
      } else if (is_like_own(child.attribute("id").value())) {
        report(at, fmt::format("property '{}' of a <{}> is not used. Properties go to the outermost <zone>",
                               child.attribute("id").value(), node.name()));
      }
    }
  }

  void read_property(pugi::xml_node prop) {
    const std::string id = prop.attribute("id").value();
    const std::string_view value = prop.attribute("value").value();
    const auto fail = [&](const std::string& problem) { report(prop.offset_debug(), problem); };
    if (id.empty()) return fail("a <prop> without an id");
    if (!is_like_own(id)) return;  // another program's
    if (const auto [first, fresh] = places_.emplace(id, prop.offset_debug()); !fresh) {
      return fail(
          fmt::format("property '{}' is given twice (first in line {}). Remove one", id, line_of(first->second)));
    }
    order_.push_back(id);
    try {
      if (const auto property = property_named(id)) {
        property->read(reading_, value);
        return change(*property, value);
      }
      for (const auto& [suffix, read] :
           {std::pair{error_suffix, &Reader::read_error}, {runs_suffix, &Reader::read_runs}}) {
        if (!id.ends_with(suffix)) continue;
        const std::string of = id.substr(0, id.size() - suffix.size());
        if (const auto property = property_named(of); property && property->error) {
          return (this->*read)(*property, of, value);
        }
      }
      fail(unknown_property(id));
    } catch (const std::invalid_argument& error) {
      fail(fmt::format("property '{}': {}", id, error.what()));
    }
  }

  void read_error(const Property& property, const std::string& of, std::string_view value) {
    const Changes::Effect own = changes_.effect_on(error_of(property.id)), cost = changes_.effect_on(property.id);
    GivenError& error = errors_[property.id] = {property.error->parse(value), of, own.is_any || cost.value};
    if (own.is_any) {
      const std::string is = own.of(value);
      error.value = property.error->parse(is);
      changes_.record(error_of(property.id), std::string(value), is);
    } else if (cost.value) {
      error.value = 0;  // a given value is taken as exact
    } else {
      error.value *= cost.factor;
    }
  }

  void read_runs(const Property& property, const std::string& of, std::string_view text) {
    const Changes::Effect own = changes_.effect_on(runs_of(property.id)), cost = changes_.effect_on(property.id);
    std::vector<std::string> words = words_of_runs(own.value.value_or(std::string(text)));
    Changes::Effect each;
    each.factor = own.factor;
    std::vector<double> values;
    for (std::string& word : words) {
      word = each.of(word);
      values.push_back(property.error->parse(word) * (own.is_any ? 1 : cost.factor));
    }
    if (own.is_any) changes_.record(runs_of(property.id), std::string(text), fmt::format("{}", fmt::join(words, " ")));
    runs_[property.id] = {std::move(values), of, cost.value.has_value()};
  }

  /// `was` is the file's value, if it has one.
  void change(const Property& property, std::optional<std::string_view> was) {
    const Changes::Effect effect = changes_.effect_on(property.id);
    if (!effect.is_any) return;
    try {
      const std::string is = effect.of(was.value_or(""));
      property.read(reading_, is);
      changes_.record(property.id, was ? std::optional<std::string>(*was) : std::nullopt, is);
    } catch (const std::invalid_argument& error) {
      // A glob that is wrong for one property gives the same error for its neighbours.
      const std::string refusal = effect.refusal(error.what());
      if (findings_.empty() || findings_.back() != refusal) findings_.push_back(refusal);
    }
  }

  /// Changes properties that the file leaves out, and links.
  void change_the_rest() {
    for (const std::string& id : changes_.left_out()) {
      order_.push_back(id);
      places_.emplace(id, 0);
      change(*property_named(id), std::nullopt);
    }
    for (const auto& [key, links, change] :
         {std::tuple{network_bandwidth, &bandwidths_, &bandwidth_}, {network_latency, &latencies_, &latency_}}) {
      try {
        *change = changes_.change_links(key, *links);
      } catch (const std::invalid_argument& error) {
        findings_.push_back(changes_.effect_on(key).refusal(error.what()));
      }
    }
    std::vector<std::string> known{std::string(network_bandwidth), std::string(network_latency)};
    for (const Property& property : single_properties()) known.push_back(property.id);
    for (const auto& [id, at] : places_) {
      if (std::find(known.begin(), known.end(), id) == known.end()) known.push_back(id);
    }
    for (const std::string& problem : changes_.unmet(known)) findings_.push_back(problem + ".");
  }

  /// Returns a reference link, and builds the route if messages were measured.
  LinkSpec reference_link() {
    if (!reading_.reference_bandwidth || !reading_.reference_latency || !reading_.reference_links) return {};
    const LinkSpec link{*reading_.reference_bandwidth, *reading_.reference_latency};
    reading_.costs.reference.assign(static_cast<std::size_t>(*reading_.reference_links), link);
    return link;
  }

  /// Corrects faults that a factor makes shorter than their messages: the factor then applies to the processor part.
  void keep_messages_of_faults() {
    std::vector<std::string> kept;
    for (const FaultRule& rule : fault_rules) {
      const auto kind = static_cast<std::size_t>(rule.kind);
      const std::string id = fmt::format("fault.{}", rule.name);
      const Changes::Effect effect = changes_.effect_on(id);
      if (!effect.is_any || effect.factor >= 1) continue;
      Time& total = reading_.costs.fault[kind];
      const CostModel shorter(reading_.costs, settings_.model, {});
      const Time messages = total - shorter.fault_local(rule.kind);
      const Time before = parse_time(effect.value ? *effect.value : was_of(id));
      if (total >= messages || before < messages) continue;
      const double local = static_cast<double>((before - messages).count());
      total = messages + Time{std::llround(effect.factor * local)};
      changes_.correct(id, fmt::format("{:.12g}us", to_seconds(total) * 1e6));
      kept.push_back(fmt::format("{} (messages {:.6g} us)", id, to_seconds(messages) * 1e6));
    }
    if (kept.empty()) return;
    notes_.push_back(fmt::format(
        "note: messages alone take longer than what --set leaves of {}: the factor acts on the processor part instead.",
        fmt::join(kept, ", ")));
  }

  /// The limit is ten times a fault of several messages on Ethernet of 10 Mbit/s: more suggests a wrong unit.
  void note_unlikely_faults() {
    const Time likely_at_most = from_seconds(50e-3);
    const Costs& costs = reading_.costs;
    std::vector<std::pair<std::string_view, Time>> faults{{"cold", costs.fault_cold},
                                                          {"trap", costs.fault_trap},
                                                          {"first-copy", costs.first_copy},
                                                          {"first-write", costs.first_write}};
    for (const FaultRule& rule : fault_rules) {
      faults.emplace_back(rule.name, costs.fault[static_cast<std::size_t>(rule.kind)]);
    }
    for (const auto& [name, cost] : faults) {
      const auto given = places_.find(fmt::format("fault.{}", name));
      if (cost <= likely_at_most || given == places_.end()) continue;
      notes_.push_back(
          fmt::format("{}:{}: warning: {} is {:.6g} ms, and on no known cluster is it more than {:.0f} ms. Is its unit "
                      "right?",
                      path_.string(), line_of(given->second), given->first, to_seconds(cost) * 1e3,
                      to_seconds(likely_at_most) * 1e3));
    }
  }

  /// SimGrid's model of the network is always the simulator's, but factors and weights act on it.
  void note_settings(pugi::xml_node platform) {
    for (const pugi::xpath_node& found : platform.select_nodes("config/prop[starts-with(@id, 'network/')]")) {
      const std::string_view id = found.node().attribute("id").value();
      if (!id.ends_with("-factor") && !id.ends_with("weight-S")) continue;
      notes_.push_back(fmt::format("{}:{}: note: {} acts with --network simgrid alone; the network queue is without.",
                                   path_.string(), line_of(found.node().offset_debug()), id));
    }
  }

  std::string was_of(std::string_view id) const {
    const auto recorded = changes_.recorded();
    return *std::find_if(recorded.begin(), recorded.end(), [&](const PlatformChange& one) {
              return one.property == id;
            })->was;
  }

  /// Keeps bandwidths and latencies of links between nodes: a <link>'s, and those that a <cluster> makes.
  void keep_links(pugi::xml_node element) {
    const std::string_view name = element.name();
    const auto keep = [&](const char* attribute, std::string_view kind, std::vector<LinkValue>& to) {
      const char* const text = element.attribute(attribute).value();
      if (const auto value = *text ? simgrid_quantity(text, kind) : std::nullopt) to.push_back({text, *value});
    };
    if (name == "link" || name == "backbone") {
      keep("bandwidth", "bandwidth", bandwidths_);
      keep("latency", "latency", latencies_);
    } else if (name == "cluster" || name == "cabinet") {
      for (const char* const attribute : {"bw", "bb_bw"}) keep(attribute, "bandwidth", bandwidths_);
      for (const char* const attribute : {"lat", "bb_lat"}) keep(attribute, "latency", latencies_);
    }
  }

  /// Keeps a host's speed: of several, the pstate-th.
  void keep_speed(pugi::xml_node element) {
    const std::string_view name = element.name();
    if (name != "host" && name != "cluster" && name != "cabinet") return;
    std::string text = element.attribute("speed").value();
    for (int i = std::atoi(element.attribute("pstate").value()); i > 0; --i)
      text.erase(0, text.find(',') == std::string::npos ? text.size() : text.find(',') + 1);
    text.resize(std::min(text.find(','), text.size()));
    const std::optional<double> flops = simgrid_quantity(text, "speed");
    if (!flops || !std::isfinite(*flops) || *flops <= 0) return;  // SimGrid or the lint reports it
    if (std::ranges::none_of(host_speeds_, [&](const HostSpeed& known) { return known.flops == *flops; })) {
      host_speeds_.push_back({std::move(text), *flops});
    }
  }

  void require(pugi::xml_node where) {
    const auto has_member = [&](const Family& family) {
      return std::ranges::any_of(places_, [&](const auto& given) { return family.member(given.first).has_value(); });
    };
    for (const ProtocolRow& row : protocol_rows) {
      const bool is_given = std::ranges::any_of(single_properties(), [&](const Property& property) {
        return property.is_required && property.protocol == row.kind && places_.contains(property.id);
      });
      // Barriers and locks by layout alone do not make SCASH's costs complete: they may be left over.
      const bool has_family =
          row.kind != default_protocol && std::ranges::any_of(families(), [&](const Family& family) {
            return family.is_required && family.protocol == row.kind && has_member(family);
          });
      if (is_given || has_family) protocols_.push_back(row.kind);
    }
    // A file without any costs probably lacks SCASH's.
    if (protocols_.empty()) protocols_.push_back(default_protocol);
    const auto is_wanted = [&](ProtocolKind protocol) {
      return std::ranges::find(protocols_, protocol) != protocols_.end();
    };
    const bool has_reference =
        std::ranges::any_of(protocols_, [](ProtocolKind protocol) { return tables_of(protocol).has_messages(); }) ||
        std::ranges::any_of(single_properties(), [&](const Property& property) {
          return property.is_of_messages && places_.contains(property.id);
        });
    std::vector<std::string> missing;
    for (const Property& property : single_properties()) {
      if (!property.is_required || places_.contains(property.id)) continue;
      if (property.is_of_messages && !has_reference) continue;
      if (!property.protocol || is_wanted(*property.protocol)) missing.push_back(property.id);
    }
    for (const Family& family : families()) {
      if (family.is_required && is_wanted(*family.protocol) && !has_member(family)) missing.push_back(family.form);
    }
    if (!missing.empty()) {
      report(where.offset_debug(),
             fmt::format("missing propert{} {}. Add <prop id=\"...\" value=\"...\"/> to this zone; "
                         "`sdsm check --properties` explains each",
                         missing.size() == 1 ? "y" : "ies", fmt::join(missing, ", ")));
    }
  }

  /// Finds errors without their property.
  void check_errors() {
    for (const auto& [name, error] : errors_) {
      if (places_.contains(error.of)) continue;
      const std::string id = error_of(error.of);
      report(places_.at(id), fmt::format("property '{}' is the error of nothing: there is no '{}'. Give that too, or "
                                         "remove the error",
                                         id, error.of));
    }
    check_runs();
    const auto correlated = places_.find(correlation);
    if (correlated == places_.end()) return;
    for (const std::string_view of : {"message.fixed", "message.per-byte"}) {
      const std::string id = error_of(of);
      if (places_.contains(id)) continue;
      report(correlated->second,
             fmt::format("property '{}' is one of two errors, but there is no '{}'. Give that too, or remove the "
                         "correlation",
                         correlation, id));
    }
  }

  /// Finds runs without their property, and costs with different numbers of runs.
  void check_runs() {
    for (const auto& [name, runs] : runs_) {
      if (places_.contains(runs.of)) continue;
      const std::string id = runs_of(runs.of);
      report(places_.at(id), fmt::format("property '{}' tells runs of nothing: there is no '{}'. Give that too, or "
                                         "remove the runs",
                                         id, runs.of));
    }
    const auto other = std::find_if(runs_.begin(), runs_.end(), [&](const auto& one) {
      return one.second.values.size() != runs_.begin()->second.values.size();
    });
    if (other == runs_.end()) return;
    const GivenRuns &first = runs_.begin()->second, &second = other->second;
    const std::string id = runs_of(second.of), as = runs_of(first.of);
    report(places_.at(id), fmt::format("property '{}' tells {} runs, but '{}' in line {} tells {}, so they are not the "
                                       "same runs. Give all costs as many, or remove those of one",
                                       id, second.values.size(), as, line_of(places_.at(as)), first.values.size()));
  }

  /// Costs that make a term of accounts, so that results can report their share (sim/costs_behind.hpp).
  static bool is_in_accounts(std::string_view name) {
    const auto belongs = [&](const ProtocolRow& row) {
      const std::string prefix = prefix_of(row.kind);
      if (!name.starts_with(prefix)) return false;
      const std::string_view own = name.substr(prefix.size());
      const auto has_number = [&](std::string_view form) {
        return own.starts_with(form) && own.size() > form.size() && own[form.size()] >= '0' && own[form.size()] <= '9';
      };
      return std::ranges::any_of(tables_of(row.kind).faults,
                                 [&](const FaultRow& fault) { return own == fmt::format("fault.{}", fault.name); }) ||
             own == "message.fixed" || own == "message.per-byte" || own == "diff" || own == "protect" ||
             own == "invalidate" || has_number("barrier.") || has_number("lock.");
    };
    return std::ranges::any_of(protocol_rows, belongs);
  }

  std::vector<std::string> assumed_properties() {
    std::vector<std::string> found;
    for (const std::string& name : reading_.assumed) {
      const auto is_named = [&](std::string_view id) {
        return name.ends_with('*') ? id.starts_with(std::string_view(name).substr(0, name.size() - 1)) : id == name;
      };
      const auto is_meant = [&](std::string_view id) {
        return is_named(id) && !changes_.effect_on(std::string(id)).value;  // else the user has said what it is
      };
      std::ranges::copy_if(order_, std::back_inserter(found), is_meant);
      if (std::ranges::any_of(order_, is_named)) {
        if (name.ends_with('*') || is_in_accounts(name)) continue;
        report(places_.find(assumed_costs)->second,
               fmt::format("property '{}' names '{}', whose share of the time no result can report. Leave it out",
                           assumed_costs, name));
        continue;
      }
      report(places_.find(assumed_costs)->second,
             fmt::format("property '{}' names '{}', which is not in this file. Leave it out", assumed_costs, name));
    }
    return found;
  }

  std::vector<UncertainCost> uncertain_costs() const {
    std::vector<UncertainCost> found;
    const auto add = [&](const Property& property) {
      const auto error = errors_.find(property.id);
      const auto given = runs_.find(property.id);
      const bool is_set = error != errors_.end() && error->second.is_set;
      std::vector<double> runs;
      if (given != runs_.end() && !(is_set || given->second.is_exact)) runs = given->second.values;
      if (error == errors_.end() && runs.empty()) return;
      const double known_to = error == errors_.end() ? error_of_mean(runs) : error->second.value;
      found.push_back({property.id, known_to, std::move(runs), property.error->get, property.error->set});
    };
    for (const Property& property : single_properties()) add(property);
    for (const Family& family : families()) {
      for (const std::string& id : family.given(reading_.costs)) add(*family.member(id));
    }
    return found;
  }

  std::size_t line_of(std::ptrdiff_t offset) const {
    return static_cast<std::size_t>(std::lower_bound(line_ends_.begin(), line_ends_.end(), offset) -
                                    line_ends_.begin()) +
           1;
  }

  void report(std::ptrdiff_t offset, const std::string& problem) {
    findings_.push_back(fmt::format("{}:{}: {}.", path_.string(), line_of(offset), problem));
  }

  struct GivenError {
    double value = 0;
    std::string of;       ///< as the file writes it: 02x1 is the layout 2x1
    bool is_set = false;  ///< --set gave it or its cost, so the measured runs do not apply
  };
  struct GivenRuns {
    std::vector<double> values;
    std::string of;         ///< see GivenError
    bool is_exact = false;  ///< --set gives the cost itself
  };

  std::filesystem::path path_;
  std::string text_;
  std::vector<std::ptrdiff_t> line_ends_;  ///< offsets in the text
  std::optional<Lint> lint_;
  Reading reading_;
  std::map<std::string, GivenError> errors_;  ///< by the property whose error it is
  std::map<std::string, GivenRuns> runs_;     ///< by the property whose runs they are
  std::vector<std::string> order_;
  std::map<std::string, std::ptrdiff_t, std::less<>> places_;  ///< offsets of properties in the text, by id
  std::vector<std::string> findings_;
  Settings settings_;
  Changes changes_;
  std::vector<LinkValue> bandwidths_, latencies_;
  LinkChange bandwidth_, latency_;
  std::vector<std::string> notes_;
  std::vector<ProtocolKind> protocols_;  ///< protocols whose costs are given
  std::vector<HostSpeed> host_speeds_;
};

}  // namespace
}  // namespace platform_file

namespace {

/// Returns nothing if sdsm's own platforms are missing.
std::filesystem::path own_platforms() {
  std::error_code unknown;
  const auto programs = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  // Programs are in libexec/sdsm when installed; in build/, or in build/PRESET/, when built.
  for (const char* const from_there : {"../../share/sdsm/platforms", "../platforms", "../../platforms"}) {
    auto folder = (programs / from_there).lexically_normal();
    if (std::filesystem::is_directory(folder, unknown)) return folder;
  }
  return {};
}

std::vector<std::string> names_of_own_platforms() {
  std::error_code unknown;
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(own_platforms(), unknown)) {
    if (file.path().extension() == ".xml") names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Returns "p3-score, ...", and before it the name that was probably meant.
std::string advice_on_own_platforms(const std::filesystem::path& wanted) {
  const std::vector<std::string> names = names_of_own_platforms();
  if (names.empty()) return "Give a SimGrid platform file";
  std::string meant;
  if (!wanted.has_parent_path()) {
    const std::string stem = wanted.extension() == ".xml" ? wanted.stem().string() : wanted.string();
    const std::string near = platform_file::nearest(stem, names, 1).front();
    if (platform_file::letters_between(near, stem) <= near.size() / 3) meant = fmt::format("Did you mean {}? ", near);
  }
  return fmt::format("{}Give a SimGrid platform file, or the name of one of sdsm's: {}", meant, fmt::join(names, ", "));
}

}  // namespace

std::filesystem::path find_platform(const std::string& name) {
  std::error_code unknown;
  if (std::filesystem::exists(name, unknown) || name.find('/') != std::string::npos) return name;
  const auto folder = own_platforms();
  for (const std::string& file : {name, name + ".xml"}) {
    if (!folder.empty() && std::filesystem::is_regular_file(folder / file, unknown)) return folder / file;
  }
  return name;
}

bool Platform::assumes(std::string_view property) const {
  return std::ranges::find(assumed, property) != assumed.end();
}

void require_costs(const Platform& platform, ProtocolKind protocol) {
  if (!go_together(home_pages_of(protocol), platform.costs.invalidation)) {
    throw PlatformError(
        fmt::format("{}: protocol.invalidation=changed keeps copies of pages that nobody says were written, and under "
                    "protocol {} nobody knows what homes write. Use --set protocol.invalidation=all, or --protocol {}",
                    platform.path.string(), name_of(protocol), name_of(base_of(protocol))));
  }
  if (std::ranges::find(platform.protocols, base_of(protocol)) != platform.protocols.end()) return;
  std::vector<std::string_view> given;
  for (const ProtocolKind kind : platform.protocols) given.push_back(name_of(kind));
  throw PlatformError(
      fmt::format("{0}: no costs for protocol {1} (it has {2}). Give {3}{4} and the others for {1} "
                  "(sdsm check --properties), or use --protocol {2}",
                  platform.path.string(), name_of(protocol), fmt::join(given, ", "), prefix_of(protocol),
                  tables_of(protocol).has_pages() ? "fault.*" : "barrier.T"));
}

const HostSpeed& host_speed(const Platform& platform) {
  const auto refuse = [&](const std::string& why) {
    throw PlatformError(fmt::format("--from-host-speed: {} {}", platform.path.string(), why));
  };
  constexpr const char* otherwise = "or use --sequential-time or --compute-factor";
  if (platform.host_speeds.empty()) refuse(fmt::format("gives no host a speed. Give one, {}", otherwise));
  const HostSpeed& first = platform.host_speeds.front();
  if (platform.host_speeds.size() > 1) {
    refuse(
        fmt::format("has hosts of different speeds ({}, {}), and one factor scales the computing of all threads. Give "
                    "them one speed, {}",
                    first.text, platform.host_speeds[1].text, otherwise));
  }
  // No measurement gives the placeholder to the digit, whatever host.speed-is or --set says.
  if (first.flops == placeholder_flops && platform.speed_origin != SpeedOrigin::assumed) {
    refuse(fmt::format(
        "gives its hosts the speed {}, a placeholder: {}. Give theirs, as `sdsm "
        "trace info` tells it of a trace made there, and <prop id=\"host.speed-is\" value=\"measured\"/>; {}",
        first.text,
        platform.speed_origin == SpeedOrigin::measured ? "no machine's measured speed is that, to the digit"
                                                       : "nobody says that it is theirs",
        otherwise));
  }
  return first;
}

Platform read_platform(const std::filesystem::path& path, const Settings& settings) {
  const auto refuse = [&](const std::string& why) {
    throw PlatformError(fmt::format("{}: {}. {}", path.string(), why, advice_on_own_platforms(path)));
  };
  if (const std::string problem = commands::input_problem(path, most_platform_bytes); !problem.empty()) refuse(problem);
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) refuse("is empty");
  return platform_file::Reader(path, std::move(text), settings).read();
}

}  // namespace sdsm
