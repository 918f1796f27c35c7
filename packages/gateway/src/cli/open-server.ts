/**
 * Engine and gateway, opened as one server.
 */
import type { Endpoint } from './endpoint.ts'
import { OperationError } from './errors.ts'
import type { Logger } from './logger.ts'
import type { StartSettings } from './settings.ts'

export interface Server {
  /** Where it really listens: the port is never 0. */
  readonly endpoint: Endpoint
  /** Stops listening, then closes the store. */
  close(): Promise<void>
}

export interface ServerOptions {
  readonly settings: StartSettings
  readonly logger: Logger
  /** POST /shutdown was called. */
  readonly onShutdown: () => void
}

export async function openServer(_options: ServerOptions): Promise<Server> {
  throw new OperationError('the server is not built yet')
}
