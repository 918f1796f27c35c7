/**
 * A recording of a server's calls, played at a thousand times its rate: once with a hot key, once after the cure.
 *
 * Known: best practices, ramping up traffic, and sharding and replication. The recordings are from recordings/make.mjs.
 */
import { type Arm, expectFigure, expectFigures, type Lab, ofArms } from '../lab.ts'
import { parseRecording } from '../replay/read-recording.ts'
import { recordingOf } from '../replay/recordings.ts'
import { replay, replaySettings } from '../replay/replay.ts'

function armOf(name: string, about: string): Arm {
  return {
    name,
    about,
    run: (session) => {
      return replay(session, parseRecording(recordingOf(name)), true)
    },
  }
}

export const replayLab: Lab = {
  name: 'replay',
  title: 'your own traffic, a thousand times over',
  question:
    'A site reads one entity for each page that it shows. At 40 calls a second nothing is wrong. What happens at 40,000, and what ' +
    'if the site has sixteen copies of that entity?',
  predict:
    'Both recordings are ramped up by the book. One tablet server serves 10,000 row operations a second. How many of the 40,000 calls a ' +
    'second are served in each arm, and how many tablets are there in the end?',
  idea:
    'A recording has the keys of real calls, and these decide where the load lies at any rate. So a hot key shows in a recording ' +
    'of a quiet afternoon: play it at the rate that you expect.',
  exercises: [
    {
      ask:
        '`sixtables-lab replay` plays a recording of your own: start your program against `sixtables start --record mine.jsonl`, then ' +
        'play the file with `--times 1000 --ramp`. What does it find?',
      answer:
        'That depends on your program. Look at the figures *refused of all* and *busiest* of each table, and at the findings, ' +
        'which name a lab each.',
    },
    {
      ask: '`--set replay.times=200`: which arm is refused at 8,000 calls a second?',
      answer:
        'Neither: less than 0.1 % of all calls are refused in both, while tablets move. The hot row gets four of five calls, 6,400 a second, and ' +
        'one server serves 10,000.',
    },
  ],
  today:
    'The recorder takes the calls of any client of the Datastore API, and key ranges are split by load in Firestore in Datastore mode ' +
    'as well. How soon they are split is not published; the settings here are named in each lab.',
  sources: [
    'Replicate for hot reads; ramp up by 500/50/5: best practices.',
    'The recordings: `packages/bench/recordings/make.mjs`, by `sixtables start --record FILE`.',
    "A server's capacity: believed.",
  ],
  settings: { ...replaySettings, 'replay.times': 1000, 'load.minutes': 10 },
  arms: [armOf('hot-key', 'each page reads one entity'), armOf('cured', 'each page reads one of sixteen copies of it')],
  expectations: [
    expectFigure(
      'hot-key: most of what is offered at the full rate is refused',
      'hot-key',
      'refused at the full rate',
      (percent) => percent > 50,
    ),
    expectFigure(
      'cured: nearly nothing is refused, over the whole ramp',
      'cured',
      'refused of all',
      (percent) => percent < 1,
    ),
    expectFigure(
      'cured: nearly all that is offered is served in the end',
      'cured',
      'refused at the full rate',
      (percent) => percent < 2,
    ),
    expectFigures(
      'the keys alone decide: the same calls at the same rate lie on several times as many tablets after the cure',
      ofArms('Entities: busiest', 'hot-key', 'cured'),
      (hot, cured) => hot > 2 * cured,
      'the busiest tablet has {} % of the load, and {} % after the cure',
    ),
  ],
}
