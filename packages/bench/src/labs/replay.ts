/** A recording of a server's calls, played at a thousand times its rate: once with a hot key, once after the cure. */
import { type Arm, arm, defineLab, expected, type Lab } from '../lab.ts'
import { parseRecording } from '../replay/read-recording.ts'
import { recordingOf } from '../replay/recordings.ts'
import { replay, replaySettings } from '../replay/replay.ts'

const played = (name: string, about: string): Arm =>
  arm(name, about, (session) => replay(session, parseRecording(recordingOf(name)), true))

export const replayLab: Lab = defineLab({
  name: 'replay',
  idea:
    'A recording has the keys of real calls, and these decide where the load lies at any rate. So a hot key shows in a recording ' +
    'of a quiet afternoon: play it at the rate that you expect.',
  settings: { ...replaySettings, 'replay.times': 1000, 'load.minutes': 10 },
  arms: [
    played('hot-key', 'each page reads one entity'),
    played('cured', 'each page reads one of sixteen copies of it'),
  ],
  expectations: [
    expected('hot-key: most of what is offered at the full rate is refused')
      .figure('refused at the full rate')
      .above(50),
    expected('cured: nearly nothing is refused, over the whole ramp').figure('refused of all').below(1),
    expected('cured: nearly all that is offered is served in the end').figure('refused at the full rate').below(2),
    expected(
      'the keys alone decide: the same calls at the same rate lie on several times as many tablets after the cure',
    )
      .across('Entities: busiest', 'hot-key', 'cured')
      .holds((hot, cured) => hot > 2 * cured, 'the busiest tablet has {} % of the load, and {} % after the cure'),
  ],
})
