/**
 * One, two, four and eight gateways over one Bigtable: the loads that grow with their number, and those that one row bounds.
 *
 * Known: a gateway holds nothing that a call needs, and all commits of a database get their versions from its clock rows, by default one
 * (docs/architecture/shared-store.md). Believed: one row of a Bigtable takes 200 to 500 conditional writes a second.
 */
import {
  type Arm,
  arm,
  defineLab,
  type Expectation,
  expectFigure,
  expectFigures,
  type Lab,
  ofArm,
  ofArms,
} from '../lab.ts'
import { defaultsOf } from '../settings.ts'
import { kill } from './gateways/killed.ts'
import { put, runLoad, type ScalingLoad, type TaskKey } from './gateways/scaling.ts'

/** Each put makes an entity group of its own. */
const puts: ScalingLoad = {
  length: 1,
  call: ({ gateway: { client }, n }) => client.commit([put(client.key({ kind: 'Note', name: `note-${n}` }), n)]),
}

const query: ScalingLoad['call'] = ({ gateway }) => gateway.client.greatest('Task', 'priority')

const beside: ScalingLoad = { ...puts, length: 0.4, beside: query }

const scale = (name: string, about: string, load: ScalingLoad): Arm =>
  arm(name, about, (session) => runLoad(session, load))

const arms: readonly Arm[] = [
  scale('lookups', 'lookups of entities in different entity groups', {
    length: 0.25,
    call: ({ gateway, tasks, draw }) => gateway.client.lookup(tasks[Math.floor(draw * tasks.length)] as TaskKey),
  }),
  scale('queries', 'strongly consistent queries over all entity groups', { length: 0.25, call: query }),
  scale('puts', 'puts to different entity groups', puts),
  scale('puts-rows', 'the same puts, with a clock row for every two gateways', {
    ...puts,
    length: 0.4,
    severalRows: true,
  }),
  scale('beside', 'puts by half of the clients, and queries beside them by the others', beside),
  scale('beside-rows', 'the same, with a clock row for every two gateways', { ...beside, severalRows: true }),
  scale('same-clients', 'the same puts by the clients of one gateway, spread over all gateways', {
    ...puts,
    sameClients: true,
  }),
  scale('one-group', 'puts to one entity group', {
    length: 5,
    call: ({ gateway, tasks, n }) => gateway.client.commit([put(tasks[0] as TaskKey, n)]),
  }),
  arm('killed', 'queries, lookups and puts at several gateways; one is killed', kill),
]

type Holds = (one: number, other: number) => boolean

function pair(says: string, arm: string, names: readonly [string, string], holds: Holds): Expectation {
  return expectFigures(says, ofArm(arm, ...names), holds, `${names[0]}: {}, ${names[1]}: {}`)
}

function compared(says: string, name: string, arms: readonly [string, string], holds: Holds): Expectation {
  return expectFigures(says, ofArms(name, ...arms), holds, `${name} of ${arms[0]}: {}, of ${arms[1]}: {}`)
}

const manyTimes = (times: number): boolean => times > 6.5

export const gatewaysLab: Lab = defineLab({
  name: 'gateways',
  idea:
    'A gateway brings a core of its own, and lookups and queries need nothing else. Each commit needs a version from one row, the clock row of ' +
    'its database. All commits that wait in a gateway share a conditional write of that row, and the gateways take turns at it. ' +
    'A commit to a group is a conditional write of one more row, shared by the commits that wait in a gateway: of the gateways that read that row at ' +
    'the same time, one succeeds.',
  settings: {
    ...defaultsOf('gateways.max', 'gateways.clients', 'gateways.callMs', 'gateways.seconds', 'gateways.clockRows'),
    ...defaultsOf('gateways.killedOf', 'rows.callMs', 'rows.conditionalMs'),
    'server.count': 100,
    ...defaultsOf('server.opsPerSecond'),
    'client.rpcMs': 2,
  },
  arms,
  expectations: [
    expectFigure('lookups: as many times more as there are gateways', 'most against one', manyTimes),
    expectFigure('queries: as many times more as there are gateways', 'most against one', manyTimes),
    pair(
      'puts to many groups: two gateways take nearly twice as many',
      'puts',
      ['1 gateway', '2 gateways'],
      (one, two) => two > 1.7 * one,
    ),
    expectFigure(
      'puts to many groups: half of the gateways take nearly as many',
      'most against half as many',
      (times) => times < 1.3,
      'puts',
    ),
    pair(
      'more gateways: each put waits longer for the clock row',
      'puts',
      ['p50, one gateway', 'p50, most gateways'],
      (one, most) => most > 2 * one,
    ),
    expectFigure(
      'puts with several clock rows: more than five times as many at eight gateways',
      'most against one',
      (times) => times > 5,
      'puts-rows',
    ),
    compared(
      'several clock rows: a put waits half as long at eight gateways',
      'p50, most gateways',
      ['puts', 'puts-rows'],
      (one, several) => several < 0.6 * one,
    ),
    compared(
      'several clock rows: a query beside puts waits less at eight gateways',
      'queries beside, p50, most',
      ['beside', 'beside-rows'],
      (one, several) => several < 0.85 * one,
    ),
    expectFigure(
      'the same clients at more gateways write less',
      'most against one',
      (times) => times < 0.6,
      'same-clients',
    ),
    expectFigure(
      'puts to one group: those that wait in a gateway share an append',
      'puts for each append, one',
      (puts) => puts > 5,
      'one-group',
    ),
    expectFigure(
      'puts to one group: about every second append of several gateways succeeds',
      'appends that succeed, most',
      (share) => share > 30 && share < 70,
      'one-group',
    ),
    expectFigure(
      'killed: a strong query waits for a quarter of a second or so',
      'queries, longest after',
      (ms) => ms > 100 && ms < 1000,
    ),
    pair(
      'killed: a lookup in one group does not wait',
      'killed',
      ['lookups, p50 before', 'lookups, longest after'],
      (before, after) => after < before + 50,
    ),
    expectFigure('killed: every acknowledged put is there', 'acknowledged puts lost', 0),
  ],
})
