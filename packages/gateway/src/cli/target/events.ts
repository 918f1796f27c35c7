/** Server-sent events (WHATWG HTML, "server-sent events"): `data:` lines, and a blank line at the end of each event. */

/** The data of each event; comments and other fields are skipped. */
export async function* eventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true })
    for (;;) {
      const end = rest.indexOf('\n\n')
      if (end < 0) break
      const data = rest
        .slice(0, end)
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trimStart())
      rest = rest.slice(end + 2)
      if (data.length > 0) yield data.join('\n')
    }
  }
}
