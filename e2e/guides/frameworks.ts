import { type ExecFileOptions, execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import type { GUIDES } from '#app/(site)/docs/pages.ts'

type Command = [program: string, ...args: string[]]

export type Framework = {
  /** Succeeds if the language is installed. */
  language: Command
  /** Checks the guide's files with the language's own tools. */
  faults(folder: string, files: string[]): Promise<string[]>
  /** Succeeds if the framework is also installed. */
  framework: Command
  /** Files of a new project in that framework that the guide relies on. */
  around?: Record<string, string>
  prepare?: Command
  start: Command
  page: string
}

/** Runs the program on each file, and returns its output for those that fail. */
const ofEach =
  (ending: RegExp, ...[program, ...args]: Command): Framework['faults'] =>
  async (folder, files) => {
    const written = files.filter((file) => ending.test(file))
    const said = await Promise.all(written.map((file) => run([program, ...args, file], { cwd: folder })))
    return said.filter(({ ok }) => !ok).map(({ output }) => output)
  }

export function run(
  [program, ...args]: Command,
  options: ExecFileOptions = {},
): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ ok: error === null, output: `${stdout}${stderr}${error ?? ''}` }),
    )
  })
}

const ofProgram =
  (build: Command): Framework['faults'] =>
  async (folder) => {
    const { ok, output } = await run(build, { cwd: folder })
    return ok ? [] : [output]
  }

/** Type-checks with the strictest options that a project may use, in a project with a bundler. */
const ofTypes: Framework['faults'] = async (folder, files) => {
  const written = files.filter((file) => /\.tsx?$/.test(file))
  const { ok, output } = await run([process.execPath, ...TSC, ...written, 'bundler.d.ts'], { cwd: folder })
  return ok ? [] : [output]
}

const TSC = [
  resolve('node_modules/typescript-7/bin/tsc'),
  ...['--ignoreConfig', '--noEmit', '--allowJs', '--skipLibCheck', '--jsx', 'react-jsx'],
  ...[
    '--types',
    'node',
    '--target',
    'es2022',
    '--lib',
    'es2024,dom',
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
  ],
  ...['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes', '--noUnusedLocals'],
]

const GO_BUILD: Command = ['go', 'build', '-o', 'uploads', '.']
const NODE: Command = [process.execPath, '--version']
const UPLOAD_PAGE = '/upload.html'
/** The type declarations for style imports that bundlers provide. */
const BUNDLER = { 'bundler.d.ts': "declare module '*.css'\n" }

export const FRAMEWORKS: Record<(typeof GUIDES)[number]['slug'], Framework> = {
  'guides/nextjs': {
    language: NODE,
    faults: ofTypes,
    framework: NODE,
    page: '/upload',
    around: {
      ...BUNDLER,
      // Calls the routes and the page as Next does: each gets a Request and returns a Response.
      'main.tsx': `import { serve } from '@hono/node-server'
import { renderToString } from 'react-dom/server'
import * as uploadToken from './app/api/upload-token/route'
import UploadPage from './app/upload/page'
import * as webhook from './app/webhooks/sluice/route'

const routes: Record<string, (request: Request) => Promise<Response>> = {
  'POST /api/upload-token': uploadToken.POST,
  'POST /webhooks/sluice': webhook.POST,
  'GET /upload': async () => new Response(renderToString(<UploadPage />)),
}
const fetch = (request: Request) => routes[\`\${request.method} \${new URL(request.url).pathname}\`]!(request)
serve({ fetch, port: Number(process.env.PORT), hostname: 'localhost' })
`,
    },
    prepare: [
      join('node_modules', '.bin', 'esbuild'),
      'main.tsx',
      '--bundle',
      '--platform=node',
      '--format=esm',
      '--jsx=automatic',
      '--loader:.css=empty',
      '--outfile=main.mjs',
      "--banner:js=import{createRequire}from'node:module';const require=createRequire(import.meta.url)",
    ],
    start: [process.execPath, 'main.mjs'],
  },
  'guides/express': {
    language: NODE,
    faults: ofEach(/\.mjs$/, process.execPath, '--check'),
    framework: NODE,
    start: [process.execPath, 'server.mjs'],
    page: UPLOAD_PAGE,
  },
  'guides/hono': {
    language: NODE,
    faults: ofTypes,
    framework: NODE,
    around: BUNDLER,
    start: [process.execPath, 'server.ts'],
    page: UPLOAD_PAGE,
  },
  'guides/rails': {
    language: ['ruby', '--version'],
    faults: ofEach(/\.rb$/, 'ruby', '-c'),
    framework: ['ruby', '-e', 'require "action_controller/railtie"; require "webrick"'],
    around: {
      'app/controllers/application_controller.rb':
        'class ApplicationController < ActionController::Base\nend\n',
      'start.rb': `require "action_controller/railtie"
require "rack/handler/webrick"
class Site < Rails::Application
  config.root = __dir__
  config.load_defaults 6.1
  # As in a new application in production: every file in lib is loaded, and must define the constant that it is named for.
  config.eager_load_paths << "#{__dir__}/lib"
  config.eager_load = true
  config.secret_key_base = "a" * 64
  config.hosts.clear
  config.logger = Logger.new($stdout)
end
$stdout.sync = true
Site.initialize!
Rack::Handler::WEBrick.run(Site, Host: "localhost", Port: ENV["PORT"])
`,
    },
    start: ['ruby', 'start.rb'],
    page: UPLOAD_PAGE,
  },
  'guides/laravel': {
    language: ['php', '--version'],
    faults: ofEach(/\.php$/, 'php', '-l'),
    framework: [
      'php',
      '-r',
      'require "Illuminate/autoload.php"; require "GuzzleHttp/autoload.php"; new Illuminate\\Foundation\\Application;',
    ],
    around: {
      'config/app.php': "<?php return ['timezone' => 'UTC', 'providers' => [], 'aliases' => []];\n",
      'config/logging.php': `<?php return ['default' => 'out', 'channels' => ['out' => ['driver' => 'errorlog']]];\n`,
      'bootstrap/cache/.keep': '',
      'index.php': `<?php
if (is_file(__DIR__.'/public'.$_SERVER['REQUEST_URI'])) {
    return readfile(__DIR__.'/public'.$_SERVER['REQUEST_URI']);
}
require 'Illuminate/autoload.php';
require 'GuzzleHttp/autoload.php';
spl_autoload_register(fn ($name) => str_starts_with($name, "App") && require __DIR__.'/'.strtr(lcfirst($name), '\\\\', '/').'.php');
$app = new Illuminate\\Foundation\\Application(__DIR__);
$app->singleton(Illuminate\\Contracts\\Http\\Kernel::class, Illuminate\\Foundation\\Http\\Kernel::class);
$app->singleton(
    Illuminate\\Contracts\\Debug\\ExceptionHandler::class,
    Illuminate\\Foundation\\Exceptions\\Handler::class,
);
$app->booted(fn () => require __DIR__.'/routes/web.php');
$kernel = $app->make(Illuminate\\Contracts\\Http\\Kernel::class);
$kernel->handle(Illuminate\\Http\\Request::capture())->send();
`,
    },
    start: ['sh', '-c', 'exec php -S "localhost:$PORT" index.php'],
    page: UPLOAD_PAGE,
  },
  'guides/django': {
    language: ['python3', '--version'],
    faults: ofEach(/\.py$/, 'python3', '-m', 'py_compile'),
    framework: ['python3', '-c', 'import django'],
    around: {
      'site_urls.py':
        'from django.urls import include, path\n\nurlpatterns = [path("", include("uploads.urls"))]\n',
      'start.py': `import logging
import os
from django.conf import settings
from django.core.management import execute_from_command_line

logging.basicConfig(level=logging.INFO)
settings.configure(DEBUG=True, ROOT_URLCONF="site_urls", SECRET_KEY="a" * 50, MIDDLEWARE=[
    "django.middleware.csrf.CsrfViewMiddleware",
])
execute_from_command_line(["", "runserver", "--noreload", f"localhost:{os.environ['PORT']}"])
`,
    },
    start: ['python3', 'start.py'],
    page: '/upload',
  },
  'guides/go': {
    language: ['go', 'version'],
    // The check builds the program that is started later, so that it is compiled only once.
    faults: ofProgram(GO_BUILD),
    framework: ['go', 'version'],
    prepare: GO_BUILD,
    start: ['./uploads'],
    page: UPLOAD_PAGE,
  },
}
