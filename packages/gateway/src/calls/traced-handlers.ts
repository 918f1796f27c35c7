/** Handlers that add the messages of a call to its trace, for all protocols. */
import { andThen } from '@sixtables/engine'
import { type Handler, type Handlers, messageOf } from '../call.ts'

export function tracedHandlers(handlers: Handlers): Handlers {
  const traced = Object.entries(handlers).map(([name, handler]) => [name, tracedHandler(handler)])
  return Object.fromEntries(traced) as Handlers
}

function tracedHandler(handler: Handler): Handler {
  return (request, call) => {
    const { trace } = call
    if (trace?.keepsMessages !== true) return handler(request, call)
    trace.request = request
    return andThen(handler(request, call), (answer) => {
      trace.answer = messageOf(answer)
      return answer
    })
  }
}
