/// The run-time's end of the stream of records.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "native/tracer/record/stream.hpp"
#include "native/tracer/record/turn.hpp"

namespace sdsm::tracer::recorder {

/// Sends records to this file descriptor from now on; before that they go nowhere.
void connect(int descriptor) REQUIRES(turn);
void disconnect() REQUIRES(turn);
bool is_connected() REQUIRES(turn);

/// Appends a record, whose bytes are those of `part`, then `more`. The buffer is written when it is full.
void put(RecordKind kind, const void* part, std::size_t bytes, const void* more = nullptr, std::size_t more_bytes = 0)
    REQUIRES(turn);
void put_text(RecordKind kind, std::initializer_list<const char*> parts) REQUIRES(turn);
void flush() REQUIRES(turn);

}  // namespace sdsm::tracer::recorder
