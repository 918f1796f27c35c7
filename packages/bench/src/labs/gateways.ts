/** One, two, four and eight gateways over one Bigtable: the loads that grow with their number, and those that one row bounds. */
import { type Arm, arm, defineLab, expected, type Lab } from '../lab.ts'
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
    expected('lookups: as many times more as there are gateways').figure('most against one').above(6.5),
    expected('queries: as many times more as there are gateways').figure('most against one').above(6.5),
    expected('puts to many groups: two gateways take nearly twice as many')
      .of('puts', '1 gateway', '2 gateways')
      .holds((one, two) => two > 1.7 * one, '1 gateway: {}, 2 gateways: {}'),
    expected('puts to many groups: half of the gateways take nearly as many')
      .of('puts', 'most against half as many')
      .below(1.3),
    expected('more gateways: each put waits longer for the clock row')
      .of('puts', 'p50, one gateway', 'p50, most gateways')
      .holds((one, most) => most > 2 * one, 'p50, one gateway: {}, p50, most gateways: {}'),
    expected('puts with several clock rows: more than five times as many at eight gateways')
      .of('puts-rows', 'most against one')
      .above(5),
    expected('several clock rows: a put waits half as long at eight gateways')
      .across('p50, most gateways', 'puts', 'puts-rows')
      .holds((one, several) => several < 0.6 * one, 'p50, most gateways of puts: {}, of puts-rows: {}'),
    expected('several clock rows: a query beside puts waits less at eight gateways')
      .across('queries beside, p50, most', 'beside', 'beside-rows')
      .holds((one, several) => several < 0.85 * one, 'queries beside, p50, most of beside: {}, of beside-rows: {}'),
    expected('the same clients at more gateways write less').of('same-clients', 'most against one').below(0.6),
    expected('puts to one group: those that wait in a gateway share an append')
      .of('one-group', 'puts for each append, one')
      .above(5),
    expected('puts to one group: about every second append of several gateways succeeds')
      .of('one-group', 'appends that succeed, most')
      .holds((share) => share > 30 && share < 70),
    expected('killed: a strong query waits for a quarter of a second or so')
      .figure('queries, longest after')
      .holds((ms) => ms > 100 && ms < 1000),
    expected('killed: a lookup in one group does not wait')
      .of('killed', 'lookups, p50 before', 'lookups, longest after')
      .holds((before, after) => after < before + 50, 'lookups, p50 before: {}, lookups, longest after: {}'),
    expected('killed: every acknowledged put is there').figure('acknowledged puts lost').is(0),
  ],
})
