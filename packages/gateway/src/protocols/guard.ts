/**
 * Who may speak to us. The emulator has no passwords, and a browser of its user visits any page; so a page from elsewhere must
 * not read or change the store.
 *
 * N1  A request with an Origin is served only if the origin is local, is an address that the request itself was sent to, or
 *     is allowed by name. Browsers send Origin with every request that can change something.          security.test.ts
 * N2  A server that listens on this machine alone is spoken to by a local name, so that a foreign name that was pointed at
 *     this machine (DNS rebinding) is refused.                                                        same
 * N3  A request that a browser marks as sent by another site, and that is no navigation, needs an allowed Origin. same
 *
 * Known: the Fetch standard on Origin, RFC 6761 on names below localhost. Ours: what is refused.
 */
import { isIP } from 'node:net'

export interface GuardOptions {
  /** Whether the server listens on loopback addresses only: then hosts are checked. */
  readonly isLoopback: boolean
  /** Origins beyond the local ones, such as `https://viewer.example`; `null` for pages from files. */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Host names beyond the local ones, without port. */
  readonly allowedHosts?: readonly string[] | undefined
}

/** What a request says of where it comes from. */
export interface Sender {
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
    this.#hosts = new Set(allowedHosts.map((host) => host.toLowerCase()))
  }

  /** Why the request is not served; `undefined` = it is. */
  refusal({ origin, host, site, mode }: Sender): string | undefined {
    if (this.#isLoopback && host !== undefined && host !== this.#goodHost) {
      if (!this.#isKnownHost(host)) {
        return (
          `the host "${host}" is not known here: this server listens on this machine alone; ` +
          'start it with --allowed-host to allow that name'
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
    return isLocalName(name) || this.#hosts.has(name) || this.#hosts.has(host.toLowerCase())
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
