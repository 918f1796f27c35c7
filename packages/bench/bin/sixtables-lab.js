#!/usr/bin/env node
/**
 * The `sixtables-lab` command. A small committed file, because pnpm links a command only when its file is there at install
 * time, and the build comes later.
 */
import { existsSync, statSync } from 'node:fs'

// Whoever read the output may have gone; a server goes on without.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (error.code !== 'EPIPE') throw error
  })
}

/** Time of a file's last change, 0 when there is none. */
const writtenAt = (path) => statSync(new URL(path, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0

// The bundle starts in a third of the time. After the compiler ran alone, while somebody works on the sources, it is behind.
const bundled = '../dist/bundle/main.js'
const notes = ['..', '../../bigtable', '../../engine', '../../gateway'].map((folder) => `${folder}/dist/.tsbuildinfo`)
const built = writtenAt(bundled) > Math.max(...notes.map(writtenAt)) ? bundled : '../dist/cli/main.js'

if (existsSync(new URL(built, import.meta.url))) {
  const { main } = await import(built)
  process.exitCode = await main(process.argv.slice(2))
} else {
  process.stderr.write('sixtables-lab: not built yet; run `npm run setup` at the root of the repository.\n')
  process.exitCode = 2
}
