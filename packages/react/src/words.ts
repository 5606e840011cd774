/** Everything that the components say, for other languages. */
export const WORDS = {
  choose: 'Choose files',
  drop: 'Drop files or folders here, or',
  list: 'Uploads',
  pause: (name: string) => `Pause ${name}`,
  resume: (name: string) => `Resume ${name}`,
  retry: (name: string) => `Retry ${name}`,
  cancel: (name: string) => `Cancel ${name}`,
  remove: (name: string) => `Remove ${name} from the list`,
  progress: (name: string) => `Progress of ${name}`,
  queued: 'In the queue',
  uploading: (percent: number) => `${percent}%`,
  waiting: (reason: string) => `${reason}. It continues automatically.`,
  paused: (percent: number) => `Paused at ${percent}%`,
  failed: (reason: string) => `Failed: ${reason}`,
  unreadable: 'The browser could not read it.',
  tooMany: (most: number) =>
    `Only the first ${most.toLocaleString('en')} files of the drop were added. Drop the others separately.`,
  done: 'Uploaded',
  missing: 'Choose the same file again: it continues where it stopped.',
  /** Announced to screen readers when the state of an upload changes. */
  said: (name: string, state: string) => `${name}: ${state}`,
  saidMore: (count: number) => `And ${count.toLocaleString('en')} more.`,
}
export type Words = typeof WORDS
