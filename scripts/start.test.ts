/** `npm start` with a flag that npm took for itself. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const start = fileURLToPath(new URL('start.mjs', import.meta.url))

test.each(['testing', 'data-dir'])('npm start --%s is refused with the line to write instead', (flag) => {
  const env = { ...process.env, [`npm_config_${flag.replace('-', '_')}`]: 'true' }
  const { status, stderr } = spawnSync(process.execPath, [start], { env, encoding: 'utf8' })
  expect(stderr).toBe(`sixtables: npm has taken --${flag} for itself; write npm start -- --${flag}\n`)
  expect(status).toBe(1)
})
