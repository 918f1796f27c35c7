/** Flags and help of `sixtables completion`; `run` imports the code. */
import type { Command } from '../../framework/command.ts'

export const completionCommand: Command = {
  name: 'completion',
  describe: 'Print a script for the completion of commands and flags in a shell',
  positionals: [{ name: 'shell', optional: true, describe: 'bash, zsh or fish; default: the shell in SHELL' }],
  examples: [
    ['$0 completion bash >> ~/.bashrc', 'bash'],
    ['$0 completion zsh >> ~/.zshrc', 'zsh'],
    ['$0 completion fish > ~/.config/fish/completions/sixtables.fish', 'fish'],
  ],
  run: async (flags, io) => (await import('./completion.ts')).completion(flags, io),
}
