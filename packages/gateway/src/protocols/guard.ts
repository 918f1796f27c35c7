/**
 * The guard decides which requests are allowed. The emulator has no passwords, and its user's browser visits any web page, so a page
 * of another site must not read or change the store. Four rules, each tested in security.test.ts:
 *
 * - `Origin: https://evil.example` is refused. Allowed are local origins, an address that the request itself was sent to, and those of
 *   `--allowed-origin`. Browsers send Origin with every request that can change something.
 * - `Host: rebound.evil.example` is refused, even if it resolves to 127.0.0.1 (DNS rebinding). Allowed are local names, the machine's name,
 *   addresses, and those of `--allowed-host`.
 * - A request with `Sec-Fetch-Site: cross-site` needs an allowed Origin, unless it is a navigation.
 * - A navigation with a method that may change something needs an allowed Origin.
 *
 * A server on loopback is stricter: of addresses it accepts only its own, and it checks the host over gRPC, too. A server for other
 * machines accepts any host over gRPC, such as the name in a container network: no browser speaks HTTP/2 without TLS.
 *
 * Known: the Fetch standard on Origin and Sec-Fetch-Mode, RFC 6761 on names below localhost. Ours: the rules.
 */
import { isIP } from 'node:net'
import { hostname } from 'node:os'

export interface GuardOptions {
  /** Whether the server listens on loopback addresses only, so that all its clients are on this machine. */
  readonly isLoopback: boolean
  /** Further origins, such as `https://viewer.example`; `null` for pages from files. */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Further host names, without port. */
  readonly allowedHosts?: readonly string[] | undefined
}

/** The parts of a request that show its origin. */
export interface Sender {
  /** HTTP/1.1, which browsers speak without TLS; or gRPC, which they do not. */
  readonly protocol: 'http' | 'grpc'
  readonly method: string | undefined
  readonly origin: string | undefined
  readonly host: string | undefined
  /** `Sec-Fetch-Site` */
  readonly site: string | undefined
  /** `Sec-Fetch-Mode` */
  readonly mode: string | undefined
}

export class Guard {
  readonly #isLoopback: boolean
  readonly #origins: ReadonlySet<string>
  readonly #hosts: ReadonlySet<string>
  /** The latest host that was allowed: usually all requests have the same. */
  #goodHost = ''

  constructor({ isLoopback, allowedOrigins = [], allowedHosts = [] }: GuardOptions) {
    this.#isLoopback = isLoopback
    this.#origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, '')))
    this.#hosts = new Set([...allowedHosts, hostname()].map((host) => host.toLowerCase()))
  }

  /** The reason of a refusal; `undefined` = allowed. */
  refusal({ protocol, method, origin, host, site, mode }: Sender): string | undefined {
    const isHostChecked = this.#isLoopback || protocol === 'http'
    if (isHostChecked && host !== undefined && host !== this.#goodHost) {
      if (!this.#isKnownHost(host)) {
        return (
          `the host "${host}" is not known here: it is no local name${this.#isLoopback ? '' : ' and no address'}; ` +
          'start the server with --allowed-host to allow that name'
        )
      }
      this.#goodHost = host
    }
    if (origin !== undefined) {
      if (this.isAllowedOrigin(origin, host)) return undefined
      return (
        `requests from pages of ${origin} are refused: it is not a local origin; ` +
        'start the server with --allowed-origin to allow it'
      )
    }
    if (mode === 'navigate' && method !== 'GET' && method !== 'HEAD') {
      return 'a page sent this form without its Origin: such requests are refused'
    }
    if (site === 'cross-site' && mode !== 'navigate') {
      return 'a request from a page of another site is refused'
    }
    return undefined
  }

  isAllowedOrigin(origin: string, host: string | undefined): boolean {
    const normal = origin.toLowerCase()
    if (this.#origins.has(normal)) return true
    const match = /^https?:\/\/(\[[0-9a-f:.]+\]|[^/:?#@[\]]+)(?::\d{1,5})?$/.exec(normal)
    const name = match?.[1]
    if (name === undefined) return false
    if (isLocalName(name)) return true
    // A page of this very server under its address. A name is not enough, because its owner can point it anywhere.
    return host !== undefined && isIP(unbracketed(name)) !== 0 && name === hostName(host)
  }

  #isKnownHost(host: string): boolean {
    const name = hostName(host)
    if (isLocalName(name) || this.#hosts.has(name) || this.#hosts.has(host.toLowerCase())) return true
    // Clients may copy this address from the one that a server listens on; connecting to it means this machine.
    if (this.#isLoopback) return name === '0.0.0.0' || name === '[::]'
    // A page on an address was served there; only a name can be pointed elsewhere later.
    return isIP(unbracketed(name)) !== 0
  }
}

/** `Example.com:8081` → `example.com`; an IPv6 address keeps its brackets. */
function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
}

function unbracketed(name: string): string {
  return name.replace(/^\[(.*)\]$/, '$1')
}

/** Names and addresses that can only mean this machine. */
export function isLocalName(name: string): boolean {
  if (name === 'localhost' || name === '[::1]' || name === '::1' || name.endsWith('.localhost')) return true
  return isIP(name) === 4 && name.startsWith('127.')
}
