#include "native/launch/trace/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <variant>

#include "commands/errors.hpp"
#include "commands/output.hpp"
#include "commands/results/run_result.hpp"
#include "workloads/trace/dump.hpp"
#include "workloads/trace/mended.hpp"
#include "workloads/trace/reader.hpp"

namespace sdsm::trace_command {

using namespace commands;

namespace {

void print_text(const trace::File& file) {
  const trace::Header& header = file.header();
  fmt::print("program   {}\n", fmt::join(header.program, " "));
  fmt::print("status    {}\n", header.exit_status);
  fmt::print("threads   {}\n", header.threads);
  fmt::print("machine   {}\n", header.machine);
  if (header.speed.flops != 0) fmt::print("speed     {}\n", trace::in_words(header.speed));
  fmt::print("compute   the least of {} passes, sdsm {}\n", header.passes, header.sdsm_version);
  fmt::print("file      {} bytes, format {}\n", file.file_bytes(), file.format());
  if (!header.sites.empty()) fmt::print("touched   by {} instructions\n", header.sites.size());
  if (!header.words.array.empty()) {
    fmt::print("words     of {}: {} rows\n", header.words.array, header.words.rows.size());
  }
  fmt::print("\n");
  fmt::print("{:>6}  {:>10}  {:>12}  {:>12}\n", "thread", "intervals", "page touches", "compute, s");
  for (std::uint32_t thread = 0; thread < header.threads; ++thread) {
    const trace::Totals totals = file.totals(thread);
    fmt::print("{:>6}  {:>10}  {:>12}  {:>12.6f}\n", thread, totals.intervals, totals.page_touches,
               static_cast<double>(totals.compute_ns) * 1e-9);
  }
  fmt::print("\n{:>6}  {:>10}  {:<13}  {:<11}  {}\n", "region", "pages", "kind", "placement", "name");
  for (const trace::Region& region : file.regions()) {
    fmt::print("{:>6}  {:>10}  {:<13}  {:<11}  {}\n", index_of(region.id), region.pages, name_of(region.kind),
               name_of(region.placement), region.name);
  }
  if (header.unseen.empty()) return;
  fmt::print("\nNot in the trace, and so in no prediction:\n{:>12}  {:>16}  {}\n", "calls", "bytes of memory",
             "function");
  for (const trace::UnseenCall& unseen : header.unseen) {
    fmt::print("{:>12}  {:>16}  {}\n", unseen.calls, unseen.bytes, unseen.call);
  }
}

}  // namespace

void print_info(const std::filesystem::path& path, const std::string& json) {
  commands::check_output(json, {path});
  const trace::File file(path);
  // Most of what is printed stands in the file's index; that the intervals agree with it shows only when they are read.
  const std::vector<trace::RegionUse> uses = trace::uses(file);
  if (json.empty()) return print_text(file);
  results::Json document = results::head("trace_info");
  document.update(results::Json(trace::info(file)));
  document["uses"] = trace::uses_json(uses);
  document["locks"] = trace::locks_json(trace::lock_uses(file));
  document["atomics"] = trace::atomics_json(trace::atomic_uses(file));
  results::write(document, json);
}

void write_mended(const std::filesystem::path& path, const std::filesystem::path& output, Mending mending,
                  const trace::CallSites& at) {
  using Everywhere = std::uint64_t (*)(const trace::File&, const std::filesystem::path&);
  using At = std::uint64_t (*)(const trace::File&, const std::filesystem::path&, const trace::CallSites&);
  struct Way {
    std::variant<Everywhere, At> mend;
    const char* nothing;
    const char* done;
  };
  static const Way ways[] = {
      {&trace::pad, "it has no page on which several threads write, no two of them the same line",
       "pages divided among the threads that write them"},
      {&trace::leave_out_barriers, "each of its barriers is between threads that use the same pages, or it has none",
       "barriers left out"},
      {&trace::leave_out_locks, "it takes no locks and has no atomic operations",
       "locks and atomic operations left out"},
      {&trace::leave_out_singles, "no thread comes to a `single`", "singles left out"},
      {&trace::balance, "its threads compute equally long between barriers", "phases between barriers balanced"},
      {&trace::initialise_in_parallel,
       "before a first parallel region of all threads, the initial thread writes no page of an array that another "
       "uses most",
       "pages first written by the thread that uses them most"},
  };
  const Way& way = ways[static_cast<std::size_t>(mending)];
  commands::check_output(output, {path});
  const trace::File file(path);
  trace::check_touches(file);
  if (file.format() < trace::first_format_with_lines) {
    throw BadInput(
        fmt::format("{} is of format {}, which does not tell the changed lines of pages. Trace the program again",
                    path.string(), file.format()));
  }
  const At* const mends_at = std::get_if<At>(&way.mend);
  if (!at.empty() && mends_at == nullptr) {
    throw BadInput(
        "--at goes with --without-barriers, --without-locks, --without-singles and --balance. Leave it out here");
  }
  if (const std::size_t known = file.header().call_sites.size(); !at.empty() && *at.rbegin() > known) {
    throw BadInput(fmt::format("{} has {} call sites, so --at {} names none. `sdsm trace info {} --json -` lists them",
                               path.string(), known, *at.rbegin(), path.string()));
  }
  const std::uint64_t count =
      mends_at != nullptr ? (*mends_at)(file, output, at) : std::get<Everywhere>(way.mend)(file, output);
  if (count == 0) {
    throw BadInput(fmt::format("{}{}: {}, so nothing is mended and written", path.string(),
                               at.empty() ? "" : fmt::format(", at call site {}", fmt::join(at, ", ")), way.nothing));
  }
  fmt::print("{} {}\n", count, way.done);
}

void print_dump(const std::filesystem::path& path) {
  trace::dump(trace::File(path), std::cout);
  std::cout.flush();
}

}  // namespace sdsm::trace_command
