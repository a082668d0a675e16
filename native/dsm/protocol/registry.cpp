#include "models/protocol/registry.hpp"

#include "native/dsm/protocol/protocol.hpp"

namespace sdsm::dsm {

/// Each protocol's folder defines its own.
#define SDSM_PROTOCOL_OF_RUN(name, why_not_run, meaning) Protocol* name##_protocol();
SDSM_PROTOCOLS(SDSM_PROTOCOL_OF_RUN)
#undef SDSM_PROTOCOL_OF_RUN

/// `sdsm run` refuses it.
Protocol* hardware_protocol() {
  return nullptr;
}

void choose_protocol(ProtocolKind kind) {
  switch (kind) {
#define SDSM_PROTOCOL_CASE(name, why_not_run, meaning) \
  case ProtocolKind::name: chosen_at_start = name##_protocol(); break;
    SDSM_PROTOCOLS(SDSM_PROTOCOL_CASE)
#undef SDSM_PROTOCOL_CASE
  }
  model_at_start = &chosen_at_start->messages();
}

}  // namespace sdsm::dsm
