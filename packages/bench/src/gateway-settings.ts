/** Settings of simulated gateways over one store of rows (sim/gateways.ts, sim/remote-rows.ts). */
import type { Setting } from './setting.ts'

const table = {
  'gateways.max': {
    value: 8,
    unit: 'gateways',
    about: 'maximum number of gateways; the others are 1, 2, 4, … below it',
    least: 2,
    longer: 'more',
    most: 16,
  },
  'gateways.clients': {
    value: 16,
    unit: 'clients',
    about:
      'number of clients of each gateway, or of all gateways in the arm with the same clients; each waits for its answer',
    least: 1,
    longer: 'more',
  },
  'gateways.callMs': {
    value: 1,
    unit: 'ms',
    about: 'CPU time of one call in its gateway, which has one core',
    least: 0.1,
    longer: 'less',
    source: 'ours: a slow core',
  },
  'gateways.clockRows': {
    value: 0.5,
    unit: '',
    about: 'number of clock rows for each gateway in the arms with several; rounded down, and at least one in all',
    least: 0,
    longer: 'more',
    most: 1,
  },
  'gateways.killedOf': {
    value: 4,
    unit: 'gateways',
    about: 'number of gateways of which one is killed',
    least: 2,
    longer: 'more',
    most: 16,
  },
  'gateways.seconds': {
    value: 0.3,
    unit: 's',
    about: 'duration of the load of puts for each number of gateways, after half as much to begin with',
    least: 0.1,
    longer: 'more',
  },
  'rows.callMs': {
    value: 4,
    unit: 'ms',
    about: 'mean round-trip time of a call from a gateway to Bigtable, without its work',
    least: 0.4,
    longer: 'less',
    source: 'believed: single-digit milliseconds in one zone',
  },
  'rows.conditionalMs': {
    value: 5,
    unit: 'ms',
    about: 'time of one conditional write of a row; other conditional writes of that row wait meanwhile',
    least: 0.5,
    longer: 'less',
    source: 'believed: 200 to 500 a second for one row',
  },
} as const

export type GatewaySettingName = keyof typeof table

export const gatewaySettings: Readonly<Record<GatewaySettingName, Setting>> = table
