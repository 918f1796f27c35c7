/**
 * A gateway on a free port for one test, and raw ways to speak to it. The test itself is told to close them: a hook of this module
 * would be one of the file that loads it first alone (vitest.config.ts).
 */
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { type Gateway, type GatewayOptions, startGateway } from '../../src/emulator/server.ts'
import type { EnginePort } from '../../src/engine-port.ts'
import { GrpcClient } from './grpc-client.ts'
import { patienceMs } from './patience.ts'

export interface TestGateway extends Gateway {
  readonly url: string
}

/** Closed after the test. */
export async function testGateway(
  engine: EnginePort,
  options: Omit<GatewayOptions, 'engine'> = {},
): Promise<TestGateway> {
  const gateway = await startGateway({ host: '127.0.0.1', port: 0, ...options, engine })
  onTestFinished(() => gateway.close())
  return { ...gateway, url: `http://127.0.0.1:${gateway.port}` }
}

export async function grpcClient(gateway: Gateway): Promise<GrpcClient> {
  const client = await GrpcClient.connect(gateway.port)
  onTestFinished(() => client.close())
  return client
}

/** A raw connection, and what was read from it so far. */
export interface RawConnection {
  readonly socket: Socket
  received(): Buffer
  /** Resolves with all that was received once the other side has closed. */
  readonly closed: Promise<Buffer>
}

export function rawConnection(gateway: Gateway): Promise<RawConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: gateway.port, noDelay: true })
    const chunks: Buffer[] = []
    const received = (): Buffer => Buffer.concat(chunks)
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', reject)
    const closed = new Promise<Buffer>((done) => socket.on('close', () => done(received())))
    onTestFinished(() => void socket.destroy())
    socket.once('connect', () => resolve({ socket, received, closed }))
  })
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Waits until `condition` holds. Only a test that fails waits to the end: a machine may have much else to do. */
export async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + patienceMs
  while (!condition()) {
    if (performance.now() > end) throw new Error(`the condition did not come true within ${patienceMs} ms`)
    await sleep(5)
  }
}
