import { isSluiceError, StartError } from './kernel/errors.ts'

const MAX_DEPTH = 5

type Fault = Error & { code?: string; syscall?: string; path?: string; address?: string; port?: number }

/** Why a program ends: one sentence with the remedy for what its user can mend, and the stack for a mistake of ours. */
export function sayFault(error: unknown): string {
  const chain: Error[] = []
  for (let at = error; at instanceof Error && chain.length < MAX_DEPTH; at = at.cause) chain.push(at)
  const said = chain.map((at) => (at instanceof StartError ? at.message : remedyOf(at))).find(Boolean)
  if (said) return said
  const told = chain.find(isSluiceError)
  if (told) return told.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function remedyOf({ code, syscall, path, address, port, message }: Fault): string | undefined {
  if (syscall === 'listen') return ofListening(code, { address, port })
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return `The disk is full${path ? ` (${path})` : ''}. Make room and start again.`
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
      return path && `This user may not write to ${path} (${code}). Change its owner or mode.`
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EHOSTUNREACH':
    case 'ETIMEDOUT':
    case 'CONNECT_TIMEOUT':
      return `The database does not answer (${message}). Start it, or correct DATABASE_URL.`
    // PostgreSQL, appendix A.
    case '28P01':
    case '28000':
    case '3D000':
      return `The database refuses the connection: ${message}. Correct DATABASE_URL.`
    case '53100':
      return "The database's disk is full. Make room and start again."
  }
}

function ofListening(code: string | undefined, { address, port }: Pick<Fault, 'address' | 'port'>) {
  if (code === 'EADDRINUSE')
    return `Port ${port} is taken by another process. Stop that one, or set PORT to another; PORT=0 takes a free one.`
  if (code === 'EACCES')
    return `This user may not listen on port ${port}. Set PORT to one above 1023, and put a proxy before it.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST is ${address}, which is not an address of this machine. Set HOST to one that is.`
}
