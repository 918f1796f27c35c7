/** The names in the path of a Bigtable table, its address, and the messages when it does not answer. */
import { DatastoreError, failedPrecondition, invalidArgument } from '@sixtables/engine'
import { type CallError, grpcCodes } from './call-error.ts'

export interface BigtablePlace {
  readonly project: string
  readonly instance: string
  readonly table: string
  /** Absent: the instance's default profile. */
  readonly appProfile?: string | undefined
  /** `host:port` of an emulator; absent: Google's Bigtable. */
  readonly emulator?: string | undefined
}

export const dataAddress = 'bigtable.googleapis.com:443'
export const adminAddress = 'bigtableadmin.googleapis.com:443'

export function instancePath({ project, instance }: BigtablePlace): string {
  return `projects/${project}/instances/${instance}`
}

export function tablePath(place: BigtablePlace): string {
  return `${instancePath(place)}/tables/${place.table}`
}

export function placeInWords(place: BigtablePlace): string {
  const where = place.emulator === undefined ? '' : `, emulator at ${place.emulator}`
  return `Bigtable table ${place.table} of instance ${place.instance} in project ${place.project}${where}`
}

/** The error after the table was deleted, together with its data. */
export class TableMissing extends DatastoreError {
  /** The table that was deleted, or its instance. */
  readonly missing: string
  /** Advice for a gateway that is running. */
  readonly remedy: string

  constructor(missing: string, { emulator }: BigtablePlace, { remedy, said }: Record<'remedy' | 'said', string>) {
    super('NOT_FOUND', `there is no ${missing}; ${remedy} (${said})`)
    this.missing = missing
    this.remedy =
      emulator === undefined
        ? `make it if it is still not there (${remedy}), then start this gateway anew`
        : 'start this gateway anew, which makes it'
  }
}

const ids = [
  [
    'project',
    /^[a-z0-9][a-z0-9.:_-]{2,99}$/,
    '3 to 100 lowercase letters, digits, and . : _ -, and begins with a letter or a digit',
  ],
  ['instance', /^[a-z][a-z0-9-]{1,32}$/, '2 to 33 lowercase letters, digits and hyphens, and begins with a letter'],
  ['table', /^[a-zA-Z0-9_.-]{1,50}$/, '1 to 50 letters, digits, and . _ -'],
  ['appProfile', /^[a-zA-Z0-9_.-]{1,50}$/, '1 to 50 letters, digits, and . _ -'],
] as const

/** Checks each name before it becomes part of a path. @throws INVALID_ARGUMENT */
export function checkPlace(place: BigtablePlace): void {
  for (const [part, pattern, words] of ids) {
    const id = place[part]
    if (id === undefined || pattern.test(id)) continue
    const name = part === 'appProfile' ? 'app profile' : part
    throw invalidArgument(`"${id}" cannot be the id of a Bigtable ${name}: it has ${words}`)
  }
}

/** The flags that name a place, for commands in messages. */
function flags({ project, instance, table }: BigtablePlace): string {
  return `--bigtable-project ${project} --bigtable-instance ${instance} --bigtable-table ${table}`
}

/** The message for a failed call: what was found, and what the operator of the server can do. */
export function problemOf(error: CallError, place: BigtablePlace, doing: string): DatastoreError {
  const said = `Bigtable said: ${error.message}`
  switch (error.code) {
    case grpcCodes.NOT_FOUND:
      return notFound(error, place, said)
    case grpcCodes.UNAUTHENTICATED:
      return new DatastoreError(
        'PERMISSION_DENIED',
        `${placeInWords(place)}: the credentials are not accepted; renew them with \`gcloud auth application-default login\`, or name ` +
          `another key file in GOOGLE_APPLICATION_CREDENTIALS (${said})`,
      )
    case grpcCodes.PERMISSION_DENIED:
      return new DatastoreError(
        'PERMISSION_DENIED',
        `${placeInWords(place)}: the credentials may not ${doing}; give them ${roleFor(doing)} on the instance (${said})`,
      )
    case grpcCodes.FAILED_PRECONDITION:
      return failedPrecondition(`${refusedBy(error, place, doing)} (${said})`)
    case grpcCodes.INVALID_ARGUMENT:
    case grpcCodes.OUT_OF_RANGE:
      return invalidArgument(`${placeInWords(place)} refused to ${doing} (${said})`)
    case grpcCodes.RESOURCE_EXHAUSTED:
      return new DatastoreError(
        'RESOURCE_EXHAUSTED',
        `${placeInWords(place)} is overloaded or out of quota; try again later, or add nodes (${said})`,
      )
    case grpcCodes.UNIMPLEMENTED:
      return new DatastoreError('UNIMPLEMENTED', `${placeInWords(place)} has no such call; is it a Bigtable? (${said})`)
    default:
      return silent(error, place)
  }
}

function refusedBy({ message }: CallError, place: BigtablePlace, doing: string): string {
  if (!/app.?profile|transaction/i.test(message)) {
    return (
      `${placeInWords(place)} refused to ${doing}; where it names a row, that may be above the 256 MiB of a row of a Bigtable: ` +
      'an entity group has each of its changes of the last hour in its row, so change it less often, or keep less in its root entity'
    )
  }
  return (
    `${placeInWords(place)} refuses conditional writes: the app profile ${place.appProfile ?? '"default"'} must route to one ` +
    'cluster and allow single-row transactions; make one with `gcloud bigtable app-profiles create NAME ' +
    `--instance=${place.instance} --route-to=CLUSTER --transactional-writes\`, and name it with --bigtable-app-profile`
  )
}

function notFound(error: CallError, place: BigtablePlace, said: string): DatastoreError {
  const isTable = /\/tables\//.test(error.message)
  if (/app.?profile/i.test(error.message) && !isTable) {
    const { appProfile = 'default', instance, project } = place
    return new DatastoreError(
      'NOT_FOUND',
      `instance ${instance} of project ${project} has no app profile ${appProfile}; \`gcloud bigtable app-profiles list ` +
        `--project=${project} --instance=${instance}\` lists those that there are, and --bigtable-app-profile names one (${said})`,
    )
  }
  const { table, instance, project } = place
  return /instance/i.test(error.message) && !isTable
    ? new TableMissing(`instance ${instance} in project ${project}`, place, {
        remedy: `\`gcloud bigtable instances list --project ${project}\` lists those that there are`,
        said,
      })
    : new TableMissing(`table ${table} in instance ${instance} of project ${project}`, place, {
        remedy: `\`sixtables bigtable create ${flags(place)}\` makes it`,
        said,
      })
}

function roleFor(doing: string): string {
  return doing === 'make the table' ? 'roles/bigtable.admin' : 'roles/bigtable.user'
}

/** Advice for users when the address does not answer. */
export function silenceRemedy({ emulator }: BigtablePlace): string {
  return emulator === undefined
    ? 'look at the network and at the state of the instance'
    : `is the emulator running? BIGTABLE_EMULATOR_HOST names its address (now ${emulator}); without it Google's Bigtable is used`
}

function silent(error: CallError, place: BigtablePlace): DatastoreError {
  return new DatastoreError(
    'UNAVAILABLE',
    `${placeInWords(place)} did not answer in time; ${silenceRemedy(place)} (last answer: ${error.message || `code ${error.code}`})`,
  )
}
