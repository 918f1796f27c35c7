/** Handlers that show the messages of a call to its trace, whatever its protocol. */
import { andThen } from '@sixtables/engine'
import { type Handler, type Handlers, type MethodName, messageOf } from '../call.ts'
import { keptMessage } from './kept-message.ts'

export function tracedHandlers(handlers: Handlers): Handlers {
  const traced = Object.entries(handlers).map(([name, handler]) => [name, tracedHandler(name as MethodName, handler)])
  return Object.fromEntries(traced) as Handlers
}

function tracedHandler(method: MethodName, handler: Handler): Handler {
  return (request, call) => {
    const { trace } = call
    if (trace?.keepsMessages !== true) return handler(request, call)
    trace.request = keptMessage(method, 'request', request)
    return andThen(handler(request, call), (answer) => {
      trace.answer = keptMessage(method, 'answer', messageOf(answer))
      return answer
    })
  }
}
