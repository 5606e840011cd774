/** Why a file failed, in words for people. Of most failures the reason is words already. */
export function explainFailure(reason: string): string {
  return reason === 'interrupted'
    ? 'It was interrupted: its only request ended before the last byte had arrived.'
    : reason
}
