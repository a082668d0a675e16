/// What others store in a process's own stack or thread-local variables, in flag mode. The process has these open for
/// good, so its thread sees such a store without a fault. Whoever sees it may not go on with older copies of other
/// stacks: so the node's processes shut all stacks but their own before the store is done, and drop the copies at their
/// next touch. Companions use each other's stacks as they are: they hear of it first.
#pragma once

#include <functional>

#include "native/dsm/node.hpp"

namespace sdsm::dsm {

/// Changes this process's own memory for another process; in flag mode, when the node's processes have shut all stacks
/// but their own.
void change_own_memory(std::function<void()> change) REQUIRES(handling);
/// A companion's own memory is about to be changed; or a companion has heard that this process's is.
void receive_stack_news(ProcessId from) REQUIRES(handling);
void receive_stack_news_seen() REQUIRES(handling);

/// Whether the node's copies of stacks have to be dropped before the thread touches a page: nobody has since the news
/// came.
bool take_stack_news() REQUIRES(application, node().mutex);
/// Call it when the thread has opened a copy of a stack. If news came meanwhile, shuts it again.
void note_open_stack() REQUIRES(application, node().mutex);
/// The node's copies of stacks are about to be dropped.
void note_stack_drop() REQUIRES(node().mutex);

}  // namespace sdsm::dsm
