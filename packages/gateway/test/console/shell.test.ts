/** The shell of the console: its pages, its guard, and what it does when the server goes away. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { pipeline } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { type Emulator, startEmulator } from '../../src/emulator/emulator.ts'
import { consoleTests } from './browser.ts'

interface Door {
  /** `host:port` */
  readonly address: string
  leadTo(emulator: Emulator | undefined): void
}

/** A port in front of one emulator after the other. It stays taken: a port that an emulator leaves may be another program's before it is back. */
async function openDoor(): Promise<Door> {
  let behind: Emulator | undefined
  const server = createServer((from) => {
    if (behind === undefined) return void from.destroy()
    const to = connect(behind.port, behind.host)
    pipeline(from, to, from, () => {})
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo(emulator) {
      behind = emulator
    },
  }
}

consoleTests('the shell of the console', ({ visit }) => {
  test('a browser that opens the root gets the console', async () => {
    const { page, origin } = await visit('')
    await page.goto(`${origin}/`)
    expect(page.url()).toBe(`${origin}/console/`)
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  })

  test('it says where the server is, and where its data are', async () => {
    const { page, emulator } = await visit('')
    await page.getByText(`${emulator.host}:${emulator.port}, data in memory`).waitFor()
  })

  test('an address without a page says so', async () => {
    const { page } = await visit('#/nowhere')
    await page.getByRole('heading', { name: 'There is no page "nowhere"' }).waitFor()
  })

  test('a page that was opened while the server was away is shown when it is back', async () => {
    const emulator = await startEmulator()
    const door = await openDoor()
    door.leadTo(emulator)
    const { page, go, expectProblems } = await visit('#/overview', { server: door.address })
    // The browser has a dozen names for a connection that breaks, by the moment at which it does.
    expectProblems(/Failed to load resource: net::ERR_/)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    door.leadTo(undefined)
    await emulator.close()
    await page.getByText('This page comes back by itself').waitFor()
    await go('#/controls')
    await page.getByText('The page Controls could not be loaded').waitFor()
    const another = await startEmulator()
    door.leadTo(another)
    await page.getByRole('heading', { name: 'Controls' }).waitFor()
    await another.close()
  })
})
