/** Data into and out of the tab: a file that is saved, the format of one that is opened, and entities in a link. */

/** Links are shared in messages, and shown before they are written. */
const linkCharsMax = 16_384

/** The entities in a link, YAML: `#fixture=-%20key%3A%20ToDo%3A1`. */
export function fixtureInLink(hash: string): string | undefined {
  const text = hash.length > linkCharsMax ? null : new URLSearchParams(hash.slice(1)).get('fixture')
  return text === null || text.trim() === '' ? undefined : text
}

/** The page of the console in a link: `#console=/labs/hot-key`. Opening it runs nothing. */
export function pageInLink(hash: string): string | undefined {
  const page = hash.length > linkCharsMax ? null : new URLSearchParams(hash.slice(1)).get('console')
  return page === null ? undefined : `#${page}`
}

export function formatOf(fileName: string): 'json' | 'yaml' | 'csv' {
  if (fileName.endsWith('.json')) return 'json'
  return fileName.endsWith('.csv') ? 'csv' : 'yaml'
}

export function downloadText(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
