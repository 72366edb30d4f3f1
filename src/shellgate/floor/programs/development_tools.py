"""Compilers, builders, package managers, interpreters: a developer's usual tools."""

from shellgate.floor.arguments.usage_tables import table

USAGES = table("""
# names | operands | options with a value | marks
sh bash dash zsh ksh mksh ash rbash fish csh tcsh yash posh pwsh elvish nu xonsh osh | r t* | O=t o=t
    rcfile=r init-file=r |
eval | s* | |
source . | r t* | |
trap alias unalias mapfile-callback enable bind-key | t* | f=r |
export | t* | |
python pypy ipython jython micropython | r e* | W=t X=t Q=t check-hash-based-pycs=t |
perl | r e* | I=l |
ruby jruby | r e* | I=l C=l E=t |
node nodejs deno bun tsx ts-node qjs | r e* | r,require=r import=r loader=r C=t env-file=r
    env-file-if-exists=r inspect=t max-old-space-size=t title=t |
php | r e* | c=r d=t S=t t=l f=r z=r |
lua luajit | r e* | l=t |
awk gawk mawk nawk | c r* | F,field-separator=t v,assign=t f,file=r e,source=c i,include=r E,exec=r
    o,pretty-print?=w d,dump-variables?=w p,profile?=w D=w l,load=t |
sed gsed ssed | c r* | e,expression=c f,file=r l,line-length=t i,in-place?=t |
find gfind | l* | | single
git | t* | |
make gmake bmake ninja remake | t* | C,directory=l f,file,makefile=r I,include-dir=l j,jobs?=t l?=t o=t W=t
    E,eval=s k=t |
cmake | e* | S=l B=w C=r P=r build=l install=l target=t config=t prefix=w toolchain=r preset=t |
just task mage rake invoke doit nox tox waf scons ant mvn gradle gradlew sbt lein mix | e* | f=r C=l | single
gcc g++ cc c++ clang clang++ tcc icc nvcc ld as gfortran gdc | r* | o=w I=l L=l include=r isystem=l std=t
    MF=w MT=t MQ=t wrapper=x T=r B=l specs=r | single
rustc | r | o=w L=l extern=r out-dir=w C=t crate-type=t crate-name=t edition=t emit=t target=t |
cargo rustup | t e* | manifest-path=r target-dir=w p=t F=t j=t config=t C=l Z=t target=t features=t
    out-dir=w root=w path=l |
gofmt goimports | e* | r=t local=t cpuprofile=w | single
go gopls golangci-lint | t e* | o=w C=l toolexec=s exec=s modfile=w overlay=r ldflags=t gcflags=t
    tags=t run=t coverprofile=w cpuprofile=w memprofile=w w=t l=t d=t | single
javac java jar kotlinc scala groovy | e* | cp=e d=w classpath=e jar=r | single
dotnet msbuild swift xcodebuild zig nim ghc stack cabal dune opam ocaml julia R Rscript erl elixir racket
    guile sbcl octave maxima swipl | e* | e=c eval=c p=c |
npm yarn pnpm bun | t e* | prefix=w C=w w=t workspace=t registry=t userconfig=r cache=w |
pip uv poetry pdm pipenv pipx conda mamba micromamba easy_install twine hatch rye pixi | t e* |
    r,requirement=r c,constraint=r e,editable=l t,target=w prefix=w root=w d,dest=w w=w i,index-url=t
    extra-index-url=t f=e log=w cache-dir=w python=e p=t n,name=t group=t extra=t o,output-file=w |
gem bundle composer cpan cpanm luarocks pear pecl | t e* | i=w n=w path=w |
pytest py.test | r* | k=t m=t n=t p=t c=r o=t W=t durations=t maxfail=t tb=t cov?=t cov-report=t
    cov-config=r junitxml=w junit-xml=w basetemp=w rootdir=l ignore=l deselect=t timeout=t x=t log-file=w
    result-log=w confcutdir=l |
unittest nose2 nosetests jest vitest mocha ava karma cypress playwright phpunit rspec minitest ctest | e* |
    c=r |
mypy ruff black flake8 pylint isort pyright bandit autopep8 yapf pyflakes eslint prettier tsc stylelint
    biome standard xo shellcheck shfmt hadolint yamllint markdownlint clang-format clang-tidy rubocop golint
    staticcheck vulture pre-commit commitlint lint-imports codespell typos | e* | c,config=r l,line-length=t
    o,output-file=w p=l target-version=t select=t ignore=t exclude=t format=t parser=t outDir=w outFile=w
    project=l |
vite webpack rollup esbuild parcel next nuxt astro svelte-kit ng turbo nx lerna rspack gatsby hugo jekyll
    mkdocs sphinx-build | e* | c=r o=w d=w |
alembic django-admin flask uvicorn gunicorn celery streamlit jupyter jupyter-lab | e* | c=e |
psql mysql mariadb redis-cli mongo mongosh createdb dropdb | t* | c,command=c
    e,execute=c f,file=r d,dbname=t h,host=t p=t U,username=t u=t o,output=w L=w v=t P=t F=t |
pg_dump pg_dumpall pg_restore mysqldump mariadb-dump | t* | f,file=w r,result-file=w T,tab=w d,dbname=t h,host=t p=t
    U,username=t u=t F,format=t t,table=t n=t |
virtualenv venv | w* | p=e prompt=t |
protoc buf flatc thrift | r* | I=l o=w python_out=w go_out=w |
ctags cscope gtags | r* | f=w o=w |
m4 cpp gettext msgfmt xgettext yacc bison flex lex | r* | o,output=w I=l |
envsubst | t* | |
code subl atom idea | e* | |
claude codex gemini aider ollama llm | t* | p=t m=t |
asciinema | t w | c=s |
mkcert certbot | e* | |
""")
