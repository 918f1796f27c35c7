/**
 * grpc.health.v1.Health: whether the server, or one of its services, answers calls.
 *
 *   Check   HealthCheckRequest {service 1}  ─▶ HealthCheckResponse {status 1}     NOT_FOUND for an unknown service
 *   Watch   the same ─▶ a status at once, then each change                        SERVICE_UNKNOWN (3) instead
 *
 * The empty name means the server as a whole. All services are SERVING from the start of the port until it closes, except while the store
 * accepts no writes: then they are NOT_SERVING.
 *
 * Known: the gRPC health checking protocol.
 */
import { notFound } from '@sixtables/engine'
import { writeAnswer } from '../../convert/answer-writer.ts'
import { textFields } from '../../convert/wire-fields.ts'
import type { EnginePort } from '../../engine-port.ts'
import type { GrpcMethods } from '../../protocols/grpc.ts'
import type { StreamingMethod } from '../../protocols/grpc-stream.ts'

export const healthService = 'grpc.health.v1.Health'

const serving = 1
const notServing = 2
const serviceUnknown = 3

export function healthMethods(services: readonly string[], { store }: Pick<EnginePort, 'store'>): GrpcMethods {
  const statusNow = (): number => (store?.failure === undefined ? serving : notServing)
  const watchers = new Set<(value: number) => void>()
  store?.onFailure?.(() => {
    for (const tell of watchers) tell(statusNow())
  })
  const isKnown = (service: string): boolean => service === '' || services.includes(service)
  const serviceIn = (request: Buffer): string => textFields(request, 'HealthCheckRequest').get(1) ?? ''
  const status = (value: number): Buffer => writeAnswer((writer) => writer.uint32(1, value))
  const watch: StreamingMethod = (answer) => {
    let isWatched = false
    const tell = (value: number): void => {
      if (isWatched) answer.write(status(value))
    }
    watchers.add(tell)
    return {
      message(request) {
        const service = serviceIn(request)
        isWatched = isKnown(service)
        answer.write(status(isWatched ? statusNow() : serviceUnknown))
      },
      // A watch continues after the request has ended.
      end() {},
      cancelled: () => watchers.delete(tell),
      closing() {
        tell(notServing)
        watchers.delete(tell)
      },
    }
  }
  return {
    name: healthService,
    unary: {
      Check(request) {
        const service = serviceIn(request)
        if (isKnown(service)) return status(statusNow())
        throw notFound(`the service "${service}" is not served here; there is ${services.join(', ')}`)
      },
    },
    streaming: { Watch: watch },
  }
}
