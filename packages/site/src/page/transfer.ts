/** Data into and out of the tab: a file that is saved, and the format of one that is opened. */

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
