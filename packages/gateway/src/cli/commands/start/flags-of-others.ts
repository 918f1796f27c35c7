/**
 * Flags in start scripts for Google's emulators and gcloud that are not ours, with their effect here. `--single-project-mode` is accepted without
 * effect, so that a script still works; `--rules` is refused with a message.
 *
 * Known: names and meanings (the two emulators' own help, gcloud's reference). Ours: the effect of each.
 */
import type { Flag } from '../../framework/command.ts'

interface OtherFlag {
  readonly name: string
  readonly type: Flag['type']
  /** Its effect: the same as one of our flags; none, with the reason; or a refusal, with the alternative. */
  readonly is: 'same' | 'ignored' | 'refused'
  readonly words: string
}

export const flagsOfOthers: readonly OtherFlag[] = [
  { name: 'project-id', type: 'string', is: 'same', words: 'the same as --project' },
  {
    name: 'firestore-in-datastore-mode',
    type: 'boolean',
    is: 'same',
    words: 'the same as --mode firestore; --consistency then has no effect',
  },
  {
    name: 'use-firestore-in-datastore-mode',
    type: 'boolean',
    is: 'same',
    words: 'the same as --mode firestore; --consistency then has no effect',
  },
  {
    name: 'database-mode',
    type: 'string',
    is: 'same',
    words: 'datastore-mode is always served; other modes are refused',
  },
  { name: 'seed-from-export', type: 'string', is: 'same', words: 'the same as --import-data' },
  { name: 'allow-remote-shutdown', type: 'boolean', is: 'ignored', words: 'POST /shutdown always ends the server' },
  { name: 'enable-entity-groups', type: 'boolean', is: 'ignored', words: '--mode decides how entity groups conflict' },
  { name: 'regenerate-indexes', type: 'boolean', is: 'ignored', words: 'index.yaml keeps what queries needed' },
  { name: 'single-project-mode', type: 'boolean', is: 'ignored', words: 'every project is served' },
  { name: 'single-project-mode-error', type: 'boolean', is: 'ignored', words: 'every project is served' },
  { name: 'websocket-port', type: 'string', is: 'ignored', words: '--port is the only port' },
  { name: 'webchannel-port', type: 'string', is: 'ignored', words: '--port is the only port' },
  {
    name: 'storage-file',
    type: 'string',
    is: 'same',
    words: 'names the data folder, and takes precedence over a folder without a flag',
  },
  {
    name: 'allow-reserved-kinds',
    type: 'boolean',
    is: 'refused',
    words: 'is not offered: kinds like __this__ are never written, as in production; leave it out',
  },
  {
    name: 'rules',
    type: 'string',
    is: 'refused',
    words: 'is for Firestore in native mode, which is not served; leave it out',
  },
  {
    name: 'functions-emulator',
    type: 'string',
    is: 'refused',
    words: 'is for Firestore in native mode, which is not served; leave it out',
  },
  {
    name: 'licenses',
    type: 'boolean',
    is: 'refused',
    words: 'is not offered; each package has its licence in its folder',
  },
]
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
