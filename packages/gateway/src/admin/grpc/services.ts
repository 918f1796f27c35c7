/**
 * The services that exist only for gRPC: health, and reflection for tools such as grpcurl. The versions v1 and v1alpha of reflection differ
 * only in their names.
 *
 *   Check   HealthCheckRequest {service 1}  ─▶ HealthCheckResponse {status 1}     NOT_FOUND for an unknown service
 *   Watch   the same ─▶ a status at once, then each change                        SERVICE_UNKNOWN (3) instead
 *
 *   ServerReflectionRequest   {host 1, file_by_filename 3 | file_containing_symbol 4 | file_containing_extension 5
 *                              | all_extension_numbers_of_type 6 | list_services 7}
 *   ServerReflectionResponse  {valid_host 1, original_request 2, file_descriptor_response 4 {file_descriptor_proto 1 …}
 *                              | list_services_response 6 {service 1 {name 1}} | error_response 7 {code 1, message 2}}
 *
 * The empty name means the server as a whole. All services are SERVING from the start of the port until it closes, except while the store
 * accepts no writes. A file is sent with its imports. Extensions are not looked up, because no service here has any.
 *
 * Known: the gRPC health checking and server reflection protocols.
 */
import { notFound, statusCodes } from '@sixtables/engine'
import type { Answer } from '../../call.ts'
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

const versions = ['grpc.reflection.v1', 'grpc.reflection.v1alpha']

export function reflectionMethods(services: readonly string[]): readonly GrpcMethods[] {
  return versions.map((version) => ({
    name: `${version}.ServerReflection`,
    streaming: {
      ServerReflectionInfo: (answer) => ({
        async message(request) {
          answer.write(answerTo(request, services, await import('./reflected-files.ts')))
        },
        end: () => answer.end(),
      }),
    },
  }))
}

type Files = typeof import('./reflected-files.ts')

function answerTo(request: Buffer, services: readonly string[], { byFilename, bySymbol }: Files): Answer {
  const asked = textFields(request, 'ServerReflectionRequest')
  const filename = asked.get(3)
  const symbol = asked.get(4)
  return writeAnswer((writer) => {
    const writeError = (code: keyof typeof statusCodes, message: string): void => {
      writer.message(7, () => {
        writer.text(2, message)
        writer.uint32(1, statusCodes[code])
      })
    }
    const writeFiles = (files: readonly Uint8Array[] | undefined, what: string): void => {
      if (files === undefined) writeError('NOT_FOUND', `there is no ${what}`)
      else {
        writer.message(4, () => {
          for (const file of files.toReversed()) writer.bytes(1, file)
        })
      }
    }
    if (filename !== undefined) writeFiles(byFilename(filename), `file ${filename}`)
    else if (symbol !== undefined) writeFiles(bySymbol(symbol), `symbol ${symbol}`)
    else if (asked.has(7)) {
      writer.message(6, () => {
        for (const name of services.toReversed()) writer.message(1, () => writer.text(1, name))
      })
    } else writeError('UNIMPLEMENTED', 'extensions are not looked up here')
    writer.bytes(2, request)
    const host = asked.get(1) ?? ''
    if (host !== '') writer.text(1, host)
  })
}
