/** Why a server cannot listen on its address, in words: for the command line and for startEmulator(). */
import { factsAt } from './server-file.ts'
import { formatEndpoint } from './variables.ts'

/** Time for the program that listens there to answer: one of our servers on a busy machine may be slow. */
const factsMs = 3000

/**
 * @param remedies - the name of the setting for the port, and an example of the one for the host
 * @returns one line; `undefined` for an error that has nothing to do with an address
 */
export async function listenTrouble(
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
  remedies: { readonly port: string; readonly host: string },
): Promise<string | undefined> {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const where = formatEndpoint({ host, port })
  switch (code) {
    case 'EADDRINUSE': {
      const facts = await factsAt(where, factsMs).catch(() => undefined)
      const user = facts === undefined ? 'another program' : `a sixtables server, process ${facts.pid}`
      return `${where} is in use by ${user}; stop it, or choose another ${remedies.port} (0: a free one)`
    }
    case 'EACCES':
      return `${where} may not be listened on by this user; choose a ${remedies.port} above 1023`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `this machine has no address ${host} (${code}); name one of its own, such as ${remedies.host}`
    default:
      return undefined
  }
}
