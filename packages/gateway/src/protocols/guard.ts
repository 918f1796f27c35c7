/**
 * The guard: it decides which requests are allowed. The emulator has no passwords, and a browser of its user visits any page; so a page from elsewhere must
 * not read or change the store.
 *
 * N1  A request with an Origin is served only if the origin is local, is an address that the request itself was sent to, or
 *     is allowed by name. Browsers send Origin with every request that can change something.          security.test.ts
 * N2  A request that a browser can send names a host that no stranger can point at this machine (DNS rebinding): a local name,
 *     the name of the machine, an address, or a name that is allowed.                                 same
 * N3  A request that a browser marks as sent by another site, and that is no navigation, needs an allowed Origin. same
 * N4  A navigation that may change something needs an allowed Origin.                                 same
 *
 * A server on loopback is more strict: of addresses it takes its own alone, and it checks the host over gRPC, too. There is no
 * browser that speaks HTTP/2 without TLS; so a server for other machines takes any host over gRPC, such as the name that a
 * network of containers gives it.
 *
 * Known: the Fetch standard on Origin and Sec-Fetch-Mode, RFC 6761 on names below localhost. Ours: what is refused.
 */
import { isIP } from 'node:net'
import { hostname } from 'node:os'

export interface GuardOptions {
  /** Whether the server listens on loopback addresses only, so that all its clients are on this machine. */
  readonly isLoopback: boolean
  /** Origins beyond the local ones, such as `https://viewer.example`; `null` for pages from files. */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Host names beyond the local ones, without port. */
  readonly allowedHosts?: readonly string[] | undefined
}

/** The headers that tell a request's origin. */
export interface Sender {
  /** HTTP/1.1, which browsers speak without TLS, or gRPC, which they do not. */
  readonly protocol: 'http' | 'grpc'
  /** The verb of the request. */
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
  /** The host header found good last: mostly there is only one. */
  #goodHost = ''

  constructor({ isLoopback, allowedOrigins = [], allowedHosts = [] }: GuardOptions) {
    this.#isLoopback = isLoopback
    this.#origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, '')))
    this.#hosts = new Set([...allowedHosts, hostname()].map((host) => host.toLowerCase()))
  }

  /** Why the request is not served; `undefined` = it is. */
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
    // A page served by this very server under its address. A name would not do: it can be pointed anywhere.
    return host !== undefined && isIP(unbracketed(name)) !== 0 && name === hostName(host)
  }

  #isKnownHost(host: string): boolean {
    const name = hostName(host)
    if (isLocalName(name) || this.#hosts.has(name) || this.#hosts.has(host.toLowerCase())) return true
    // To connect to an unspecified address means this machine: clients copy it from the address that a server listens on.
    if (this.#isLoopback) return name === '0.0.0.0' || name === '[::]'
    // A page on an address was served there: only a name can be pointed elsewhere later.
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
