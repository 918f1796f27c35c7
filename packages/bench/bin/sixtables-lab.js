#!/usr/bin/env node
/**
 * The `sixtables-lab` command. A small committed file, because pnpm links a command only when its file is there at install
 * time, and the build comes later.
 */
import { existsSync } from 'node:fs'

// Whoever read the output may have gone; a server goes on without.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (error.code !== 'EPIPE') throw error
  })
}

const built = new URL('../dist/cli/main.js', import.meta.url)

if (existsSync(built)) {
  const { main } = await import(built.href)
  process.exitCode = await main(process.argv.slice(2))
} else {
  process.stderr.write('sixtables-lab: not built yet; run `npm run setup` at the root of the repository.\n')
  process.exitCode = 2
}
