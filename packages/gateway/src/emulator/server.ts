/**
 * The gateway as a whole: one port, three protocols, one set of handlers.
 *
 *   port ─┬─ HTTP/2 ─── gRPC ──────────────┐
 *         └─ HTTP/1.1 ─┬─ JSON, protobuf ──┴─ handlers ─ engine
 *                      └─ emulator and admin endpoints
 *
 * After close() no new call is accepted. Running calls are answered, or cut off after the grace time of 5 s; then the port is free.
 */
import { executionAsyncResource } from 'node:async_hooks'
import { isIP } from 'node:net'
import { Engine } from '@sixtables/engine'
import { type AdminService, grpcMethodsOf } from '../admin/admin-service.ts'
import { ExportLocations } from '../admin/export-locations.ts'
import { healthMethods, healthService, reflectionMethods } from '../admin/grpc/services.ts'
import type { EnginePort } from '../engine-port.ts'
import { silentLogger } from '../logger.ts'
import { dataService } from '../methods.ts'
import { Admission, type AdmissionLimits, admissionLimitsHere } from '../protocols/admission.ts'
import { type GrpcMethods, GrpcService } from '../protocols/grpc.ts'
import { Guard, isLocalName } from '../protocols/guard.ts'
import { HttpConnections } from '../protocols/http.ts'
import { Http2Connections } from '../protocols/http2-server.ts'
import { type Address, Port } from '../protocols/port.ts'
import { endSpareThreads } from '../threads.ts'
import { type RouteOptions, routesOf } from './routes-of.ts'

export interface GatewayOptions extends RouteOptions {
  readonly engine: EnginePort
  /** Default: 127.0.0.1 and ::1. */
  readonly host?: string | undefined
  /** Default 8081; 0 chooses a free one. */
  readonly port?: number | undefined
  /** Further origins of allowed pages, such as `https://viewer.example`. */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Further host names under which this server answers. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Limits for all clients together; absent ones have their default (protocols/admission.ts). */
  readonly load?: Partial<AdmissionLimits> | undefined
  /** Silence after which an HTTP/2 connection gets a ping; default 30 s. */
  readonly silenceMs?: number | undefined
  /** How long close() waits for running calls; default 5 s. */
  readonly closeGraceMs?: number | undefined
}

export interface Gateway {
  /** As requested, or 127.0.0.1. */
  readonly host: string
  readonly port: number
  readonly addresses: readonly Address[]
  /** Stops listening, waits for running calls (at most 5 s), and ends all connections. The engine stays open. */
  close(): Promise<void>
}

/**
 * One callback of process.nextTick(), so that all later ones stay cheap. Node 20 makes an object with two computed names for each: 0.16 µs
 * while V8 knows the shape of these objects. A collection of garbage that meets none of them drops the shape, and from then on each costs
 * 0.8 µs. A request over HTTP/1.1 has six. Nothing depends on what is kept. Measured: decision 15.
 */
const kept: object[] = []

const portDefault = 8081
const closeGraceMsDefault = 5000

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  if (kept.length === 0) process.nextTick(() => kept.push(executionAsyncResource()))
  const { engine, host = '127.0.0.1', port = portDefault, logger = silentLogger } = options
  const isDefaultHost = options.host === undefined || options.host === 'localhost'
  const guard = new Guard({
    isLoopback: isLocalName(host),
    allowedOrigins: options.allowedOrigins,
    allowedHosts: options.allowedHosts,
  })
  const admission = new Admission({ ...admissionLimitsHere(), ...options.load })
  const locations = engine instanceof Engine ? new ExportLocations(engine.store) : undefined
  const { http, services, ...serving } = routesOf(engine, options, locations)
  const http1 = new HttpConnections({ http, guard, logger, admission })
  const grpc = new GrpcService({ ...serving, services: grpcServices(services, engine) })
  const http2 = new Http2Connections({ grpc, guard, admission, silenceMs: options.silenceMs })
  const listening = new Port({
    connections: {
      http1: (socket, isTooMany) => http1.accept(socket, isTooMany),
      http2: (socket, isTooMany) => http2.accept(socket, isTooMany),
    },
    connectionsMax: admission.limits.connectionsMax,
  })
  const hosts = isDefaultHost ? ['127.0.0.1', '::1'] : [host]
  const addresses = await listenOn(listening, hosts, port).catch((error: unknown) => {
    admission.close()
    throw error
  })
  const first = addresses[0]?.port ?? port
  return {
    host,
    port: first,
    addresses,
    async close() {
      listening.stop()
      http1.close()
      grpc.close()
      http2.close()
      await listening.drained(options.closeGraceMs ?? closeGraceMsDefault)
      listening.destroyConnections()
      http2.end()
      admission.close()
      await endSpareThreads()
    },
  }
}

/** All gRPC services but the data API, including health and reflection, which exist only for gRPC. */
function grpcServices(services: readonly AdminService[], engine: EnginePort): readonly GrpcMethods[] {
  const names = [dataService, ...services.map(({ name }) => name)]
  return [...services.map(grpcMethodsOf), healthMethods(names, engine), ...reflectionMethods([...names, healthService])]
}

const freePortTries = 10

/** Listens on the first host, and with the same port on the others, as far as they exist. */
async function listenOn(listening: Port, hosts: readonly string[], port: number): Promise<readonly Address[]> {
  for (let tried = 1; ; tried++) {
    const addresses: Address[] = []
    try {
      for (const host of hosts) {
        const first = addresses[0]
        const address = await listening.listen({ host, port: first?.port ?? port }).catch((error: unknown) => {
          const isMissing = first !== undefined && isIP(host) === 6 && hasCode(error, ['EADDRNOTAVAIL', 'EAFNOSUPPORT'])
          if (!isMissing) throw error
        })
        if (address !== undefined) addresses.push(address)
      }
      return addresses
    } catch (error) {
      listening.stop()
      if (port !== 0 || tried === freePortTries || !hasCode(error, ['EADDRINUSE'])) throw error
    }
  }
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
