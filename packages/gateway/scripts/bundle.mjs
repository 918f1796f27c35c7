/**
 * Joins what `tsc` made of the command line, the server and the engine into few files, so that the command starts sooner
 * (docs/decisions/0013-bundle.md). What a plain start does not need stays in files of its own, imported when it is used.
 *
 *   dist/cli/main.js, and all that it imports   ─▶   dist/bundle/main.js, dist/bundle/<part>.js …
 *   dist/protocols/json-thread.js               ─▶   dist/bundle/protocols/json-thread.js; so each program of a thread (src/threads.ts)
 *
 * LevelDB stays outside: its binary lies beside its JavaScript.
 */
import { bundleCommand } from './bundle-command.mjs'

const threads = ['protocols/json-thread', 'cli/page/page-thread', 'admin/emulator/fixture-thread']
await bundleCommand(new URL('../dist/', import.meta.url), threads)
