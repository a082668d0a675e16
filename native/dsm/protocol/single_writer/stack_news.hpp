/// Stores of other processes to a process's own stack or thread-local variables, in single-writer mode. The process has
/// these open for good, so its thread sees such a store without a fault. It may not go on with older copies of other
/// stacks. So the node's processes shut all stacks but their own before the store is done, and drop the copies at their
/// next touch. Local peers, which use each other's stacks in place, get this news first.
#pragma once

#include <functional>

#include "native/dsm/memory/node.hpp"

namespace sdsm::dsm {

/// Changes this process's own memory for another process; in single-writer mode not before the node's processes have
/// shut all stacks but their own.
void change_own_memory(std::function<void()> change) REQUIRES(handling);
/// A local peer announces that its own memory is about to be changed; or it has seen this process's announcement.
void receive_stack_news(ProcessId from) REQUIRES(handling);
void receive_stack_news_seen() REQUIRES(handling);

/// Whether the node's copies of stacks have to be dropped before the thread touches a page: nobody did since.
bool take_stack_news() REQUIRES(application, node().mutex);
/// To be called when the thread has opened a copy of a stack. Shuts it again if news came meanwhile.
void note_open_stack() REQUIRES(application, node().mutex);
/// To be called before the node's copies of stacks are dropped.
void note_stack_drop() REQUIRES(node().mutex);

}  // namespace sdsm::dsm
