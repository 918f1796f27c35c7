/** The headers of a request that somebody here looks at; all others are passed over. */
import type { RequestHead } from '../grpc.ts'

export class RequestHeaders implements RequestHead {
  method: string | undefined
  path = ''
  authority: string | undefined
  host: string | undefined
  origin: string | undefined
  contentType: string | undefined
  encoding: string | undefined
  timeout: string | undefined

  /** Whether verb and path are there, without which a request is malformed. */
  get isComplete(): boolean {
    return this.method !== undefined && this.path !== ''
  }

  readonly take = (name: string, value: string): void => {
    switch (name) {
      case ':method':
        this.method = value
        return
      case ':path':
        this.path = value
        return
      case ':authority':
        this.authority = value
        return
      case 'host':
        this.host = value
        return
      case 'origin':
        this.origin = value
        return
      case 'content-type':
        this.contentType = value
        return
      case 'grpc-encoding':
        this.encoding = value
        return
      case 'grpc-timeout':
        this.timeout = value
        return
    }
  }
}
