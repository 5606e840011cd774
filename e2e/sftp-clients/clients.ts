/** Where a client connects, and how it signs in. */
export type Place = {
  port: number
  user: string
  file: string
  remote: string
  /** One of `token` and `keyFile` is set. */
  token: string | undefined
  keyFile: string | undefined
}
export type Command = { program: string; args: string[]; env?: Record<string, string> }

export type Client = {
  name: string
  program: string
  version: string[]
  /** False if it starts an interrupted file again from the first byte. */
  resumes: boolean
  /** The first attempt is slow enough to be killed halfway. */
  put(place: Place): Command | Promise<Command>
  resume(place: Place): Command | Promise<Command>
}

export type Tools = {
  /** For ssh: a program that prints the token. */
  askpass: string
  batch(lines: string): Promise<string>
  obscure(token: string): Promise<string>
}

const MIB_PER_SECOND = 30
/** No client has seen a drill's host key before. */
const UNKNOWN_HOST = [
  '-o',
  'StrictHostKeyChecking=no',
  '-o',
  'UserKnownHostsFile=/dev/null',
  '-o',
  'LogLevel=ERROR',
]

/** The clients to test, with the guide's commands. */
export function clientsOf(tools: Tools): Client[] {
  return [openSsh(tools), lftp(), curl(), rclone(tools)]
}

function openSsh({ askpass, batch }: Tools): Client {
  const command = async (verb: string, place: Place, limit: string[]): Promise<Command> => {
    const { port, user, file, remote, token, keyFile } = place
    const signIn = keyFile ? ['-i', keyFile, '-o', 'IdentitiesOnly=yes'] : ['-o', 'BatchMode=no']
    const lines = await batch(`${verb} ${file} ${remote}\n`)
    return {
      program: 'sftp',
      args: [...UNKNOWN_HOST, ...limit, ...signIn, '-b', lines, '-P', String(port), `${user}@127.0.0.1`],
      ...(token && { env: { SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: 'force', SLUICE_TOKEN: token } }),
    }
  }
  return {
    name: 'OpenSSH sftp',
    program: 'sftp',
    version: ['ssh', '-V'],
    resumes: true,
    put: (place) => command('put', place, ['-l', String(MIB_PER_SECOND * 8 * 1024)]),
    resume: (place) => command('reput', place, []),
  }
}

function lftp(): Client {
  const command = (place: Place, settings: string): Command => {
    const { port, user, file, remote, token, keyFile } = place
    const ssh = ['ssh', '-a', '-x', ...UNKNOWN_HOST, ...(keyFile ? ['-i', keyFile] : [])].join(' ')
    const open = `open -u ${user},${token ?? 'none'} -p ${port} sftp://127.0.0.1`
    const script = `set sftp:connect-program '${ssh}'; set net:max-retries 1; ${settings}${open}; put -c ${file} -o ${remote}; bye`
    return { program: 'lftp', args: ['-e', script] }
  }
  return {
    name: 'lftp',
    program: 'lftp',
    version: ['lftp', '--version'],
    resumes: true,
    put: (place) => command(place, `set net:limit-rate ${MIB_PER_SECOND * 1024 * 1024}; `),
    resume: (place) => command(place, ''),
  }
}

function curl(): Client {
  const command = ({ port, user, file, remote, token, keyFile }: Place, more: string[]): Command => {
    const signIn = keyFile
      ? ['--key', keyFile, '--pubkey', `${keyFile}.pub`, '-u', `${user}:`]
      : ['-u', `${user}:${token}`]
    const url = `sftp://127.0.0.1:${port}/${remote}`
    return { program: 'curl', args: ['-sS', '--insecure', ...signIn, ...more, '-T', file, url] }
  }
  return {
    name: 'curl',
    program: 'curl',
    version: ['curl', '--version'],
    resumes: true,
    put: (place) => command(place, ['--limit-rate', `${MIB_PER_SECOND}M`]),
    resume: (place) => command(place, ['-C', '-']),
  }
}

function rclone({ obscure }: Tools): Client {
  const command = async (place: Place, more: string[]): Promise<Command> => {
    const { port, user, file, remote, token, keyFile } = place
    const signIn = token ? `pass=${await obscure(token)}` : `key_file=${keyFile}`
    const to = `:sftp,host=127.0.0.1,port=${port},user=${user},${signIn},shell_type=none:${remote}`
    return { program: 'rclone', args: ['copyto', '--retries', '1', ...more, file, to] }
  }
  return {
    name: 'rclone',
    program: 'rclone',
    version: ['rclone', 'version'],
    resumes: false,
    put: (place) => command(place, ['--bwlimit', `${MIB_PER_SECOND}M`]),
    resume: (place) => command(place, []),
  }
}
