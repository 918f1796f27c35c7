/**
 * Flags in start scripts for Google's emulators and gcloud that are not ours, with their effect here. `--single-project-mode` is accepted without
 * effect, so that a script still works; `--rules` is refused with a message.
 *
 * Known: names and meanings (the two emulators' own help, gcloud's reference). Ours: the effect of each.
 */
import { type Flag, flagTable } from '../../framework/command.ts'

/** The group is the effect: the same as one of our flags; none, with the reason; or a refusal, with the alternative. */
export const flagsOfOthers: readonly Flag[] = flagTable(`
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
`)

export const hiddenFlags: readonly Flag[] = flagsOfOthers.map((flag) => ({
  ...flag,
  group: 'Known from other emulators',
  hidden: true,
  ...(flag.group === 'refused' ? { refused: flag.describe } : {}),
}))
