/**
 * Host and port in the forms `localhost:8081`, `127.0.0.1:9000`, `[::1]:8081`, `:8081`.
 *
 * Known: gcloud's `--host-port` has brackets around IPv6 addresses. Some clients hang if DATASTORE_EMULATOR_HOST contains a scheme, so we
 * never print one.
 */
import { portForm } from '../../emulator/option-forms.ts'
import { UsageError } from '../framework/errors.ts'

export interface Endpoint {
  /** A name or an address, IPv6 without brackets. */
  readonly host: string
  readonly port: number
}

export const defaultEndpoint: Endpoint = { host: '127.0.0.1', port: 8081 }

export function parsePort(text: string, flag: string): number {
  const port = portForm.read(text)
  if (port === undefined) throw new UsageError(`${flag} ${portForm.words}; got "${text}"`)
  return port
}

/** Parses `host:port`, `[ipv6]:port`, `:port` or a host; a missing part is the default. */
export function parseEndpoint(text: string, flag: string): Endpoint {
  if (/^[a-z]+:\/\//i.test(text)) {
    const bare = text.replace(/^.*?:\/\//, '').replace(/\/.*$/, '')
    throw new UsageError(`${flag} is host:port without a scheme; got "${text}", try "${bare}"`)
  }
  // No host has a name of digits only, so the number is a port.
  if (/^\d+$/.test(text)) throw new UsageError(`${flag} is host:port; got "${text}", try "localhost:${text}"`)
  const parts = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::([^:]*))?$/.exec(text)
  if (parts === null) {
    throw new UsageError(`${flag} is host:port, with an IPv6 address in brackets as in [::1]:8081; got "${text}"`)
  }
  const host = parts[1] ?? parts[2] ?? ''
  return {
    host: host === '' ? defaultEndpoint.host : host,
    port: parts[3] === undefined ? defaultEndpoint.port : parsePort(parts[3], `the port of ${flag}`),
  }
}
