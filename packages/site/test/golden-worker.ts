/** The golden scripts of the engine in a worker of a browser: a command ─▶ its lines. `undefined` begins another script. */
import { EngineScript } from '../../engine/test/golden/engine-script.ts'

let script = new EngineScript()

self.onmessage = async ({ data }: MessageEvent<string | undefined>) => {
  if (data === undefined) script = new EngineScript()
  self.postMessage(data === undefined ? [] : await script.run(data))
}
