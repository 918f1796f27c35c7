/** `fetch` for the commands that the emulator runs for a page: the emulator itself answers it, whatever host is asked. */
import type { PortClient } from '../port-client.ts'

export function fetchFrom(emulator: PortClient): typeof fetch {
  return async (asked, init) => {
    const request = new Request(asked, init)
    const { pathname, search } = new URL(request.url)
    const body = new Uint8Array(await request.arrayBuffer())
    const headers = Object.fromEntries(request.headers)
    return await emulator.ask({ method: request.method, url: pathname + search, headers, body }, request.signal)
  }
}
