/** Where the gateway says what went wrong on our side. */
export interface Logger {
  error(message: string): void
  warn(message: string): void
  info(message: string): void
  debug(message: string): void
}

export const silentLogger: Logger = {
  error() {},
  warn() {},
  info() {},
  debug() {},
}
