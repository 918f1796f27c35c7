/**
 * `sixtables completion <shell>`: a script by which a shell completes commands and flags. The script asks the program for words
 * each time (complete.ts), so it stays valid when commands change.
 */
import type { Flags, Io } from '../framework/command.ts'
import { exitCodes, UsageError } from '../framework/errors.ts'

const scripts: Readonly<Record<string, string>> = {
  bash: `# sixtables completion for bash. To install: sixtables completion bash >> ~/.bashrc
_sixtables_completions() {
  local IFS=$'\\n'
  COMPREPLY=($(sixtables --complete bash "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null))
}
complete -o bashdefault -o default -F _sixtables_completions sixtables`,
  zsh: `#compdef sixtables
# sixtables completion for zsh. To install: sixtables completion zsh >> ~/.zshrc
_sixtables_completions() {
  local -a words_found
  words_found=("\${(@f)$(sixtables --complete zsh "\${words[@]:0:$CURRENT}" 2>/dev/null)}")
  if (( \${#words_found} )); then
    _describe 'sixtables' words_found
  else
    _default
  fi
}
compdef _sixtables_completions sixtables`,
  fish: `# sixtables completion for fish. To install: sixtables completion fish > ~/.config/fish/completions/sixtables.fish
complete -c sixtables -a '(sixtables --complete fish (commandline -opc) (commandline -ct | string collect -a) 2>/dev/null)'`,
}

export async function completion(flags: Flags, io: Io): Promise<number> {
  const shell = flags['shell'] === undefined ? (io.env['SHELL'] ?? 'bash').replace(/^.*\//, '') : String(flags['shell'])
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (script === undefined) {
    throw new UsageError(`completion is there for ${Object.keys(scripts).join(', ')}; got "${shell}"`)
  }
  io.out(script)
  return exitCodes.ok
}
