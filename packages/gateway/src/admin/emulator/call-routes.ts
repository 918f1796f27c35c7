/**
 * The calls of a server as a stream, for other programs.
 *
 *   GET /emulator/calls      a recording (calls/recording.ts) as server-sent events, one line each      values=true
 */

import { invalidArgument } from '@sixtables/engine'
import type { Calls } from '../../calls/calls.ts'
import { recordLines } from '../../calls/recording.ts'
import { eventsOfLines, type Router } from '../../protocols/router.ts'

export function addCallRoutes(router: Router, calls: Calls): void {
  router.add(
    'GET',
    '/emulator/calls',
    ({ query }) => {
      const values = query.get('values') ?? 'false'
      if (values !== 'true' && values !== 'false') throw invalidArgument(`values is true or false, not "${values}"`)
      return { events: (signal) => eventsOfLines(recordLines(calls, { values: values === 'true' }, signal)) }
    },
    ['values'],
  )
}
