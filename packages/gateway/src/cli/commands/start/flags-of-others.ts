/**
 * Flags in start scripts for Google's emulators and gcloud that are not ours, with their effect here. `--single-project-mode` is accepted without
 * effect, so that a script still works; `--rules` is refused with a message.
 *
 * Known: names and meanings (the two emulators' own help, gcloud's reference). Ours: the effect of each.
 */
import { type Flag, flagTable } from '../../framework/command.ts'

interface OtherFlag {
  readonly name: string
  readonly type: Flag['type']
  /** Its effect: the same as one of our flags; none, with the reason; or a refusal, with the alternative. */
  readonly is: 'same' | 'ignored' | 'refused'
  readonly words: string
}

export const flagsOfOthers: readonly OtherFlag[] = flagTable(`
same
  project-id | text | the same as --project
  firestore-in-datastore-mode | switch | the same as --mode firestore; --consistency then has no effect
  use-firestore-in-datastore-mode | switch | the same as --mode firestore; --consistency then has no effect
  database-mode | text | datastore-mode is always served; other modes are refused
  seed-from-export | text | the same as --import-data
ignored
  allow-remote-shutdown | switch | POST /shutdown always ends the server
  enable-entity-groups | switch | --mode decides how entity groups conflict
  regenerate-indexes | switch | index.yaml keeps what queries needed
  single-project-mode | switch | every project is served
  single-project-mode-error | switch | every project is served
  websocket-port | text | --port is the only port
  webchannel-port | text | --port is the only port
same
  storage-file | text | names the data folder, and takes precedence over a folder without a flag
refused
  allow-reserved-kinds | switch | is not offered: kinds like __this__ are never written, as in production; leave it out
  rules | text | is for Firestore in native mode, which is not served; leave it out
  functions-emulator | text | is for Firestore in native mode, which is not served; leave it out
  licenses | switch | is not offered; each package has its licence in its folder
`).map(({ name, type, describe, group }) => ({ name, type, is: group as OtherFlag['is'], words: describe }))

export const hiddenFlags: readonly Flag[] = flagsOfOthers.map(
  ({ name, type, is, words }): Flag => ({
    name,
    type,
    describe: words,
    group: 'Known from other emulators',
    hidden: true,
    ...(is === 'refused' ? { refused: words } : {}),
  }),
)
