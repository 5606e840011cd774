/** Why a file failed, in words for people. Of most failures the reason is words already. */
export function explainFailure(reason: string): string {
  return reason === 'interrupted'
    ? 'It was interrupted: the one request that brought it ended before its last byte.'
    : reason
}
