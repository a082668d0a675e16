#include "models/protocol/tables.hpp"

namespace sdsm {

const Tables& tables_of(ProtocolKind kind) {
#define SDSM_PROTOCOL_TABLES_OF(name, why_not_run, meaning) &name::tables,
  static constexpr const Tables& (*tables[])() = {SDSM_PROTOCOLS(SDSM_PROTOCOL_TABLES_OF)};
#undef SDSM_PROTOCOL_TABLES_OF
  return tables[static_cast<std::size_t>(kind)]();
}

}  // namespace sdsm
