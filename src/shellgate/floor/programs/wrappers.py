"""Programs that run another command, given in their own words: the wrapped command is judged as if it stood alone."""

from shellgate.floor.arguments.usage_tables import table

USAGES = table("""
# names | operands | options with a value | marks
sudo | x* | u,user=t g,group=t p,prompt=t C,close-from=t h,host=t r,role=t t,type=t T,command-timeout=t
    U,other-user=t D,chdir=r R,chroot=r |
doas | x* | u=t C=r a=t |
sudoedit | w* | u,user=t g,group=t |
pkexec | x* | user=t |
su | t t* | c,command=s s,shell=t g,group=t G,supp-group=t w,whitelist-environment=t session-command=s |
runuser | x* | u,user=t c,command=s s,shell=t g,group=t G,supp-group=t session-command=s |
gosu su-exec | t x* | |
setpriv | x* | reuid=t regid=t groups=t inh-caps=t ambient-caps=t bounding-set=t securebits=t
    selinux-label=t apparmor-profile=t pdeathsig=t ptracer=t | harmless
capsh | t* | c=s |
env genv | x* | u,unset=t C,chdir=l S,split-string=s a,argv0=t block-signal?=t default-signal?=t
    ignore-signal?=t |
nice gnice | x* | n,adjustment=t 0?=t 1?=t 2?=t 3?=t 4?=t 5?=t 6?=t 7?=t 8?=t 9?=t | harmless
ionice | x* | c,class=t n,classdata=t p,pid=t P=t u=t | harmless
chrt | t x* | T=t P=t D=t p=t | harmless
taskset | t x* | p=t | harmless
numactl | x* | m=t N=t C=t i=t | harmless
timeout gtimeout | t x* | s,signal=t k,kill-after=t | harmless
nohup setsid | x* | |
stdbuf gstdbuf | x* | i,input=t o,output=t e,error=t | harmless
unbuffer | x* | | harmless
command | x* | | harmless
builtin | x* | | harmless
exec | x* | a=t | harmless
time | x* | f,format=t o,output=w | harmless unless=o,output
gtime | x* | f,format=t o,output=w | harmless unless=o,output
coproc | x* | | harmless
chroot | r x* | userspec=t groups=t |
fakeroot fakechroot eatmydata catchsegv | x* | l=e s=w i=r b=t |
proot | x* | r,rootfs=r R=r S=r b,bind=e w,cwd=l q=e |
flock | w x* | w,timeout=t E,conflict-exit-code=t c,command=s |
busybox toybox | x* | |
xargs gxargs | x* | I=t i?=t replace?=t L,max-lines=t l?=t n,max-args=t P,max-procs=t s,max-chars=t
    d,delimiter=t E=t e?=t a,arg-file=r process-slot-var=t |
parallel | x* | j,jobs=t a,arg-file=r I=t n=t N=t L=t S,sshlogin=t tmpdir=w joblog=w results=w d,delimiter=t
    C,colsep=t timeout=t delay=t retries=t wd,workdir=l tagstring=t halt=t env=t rpl=t basefile=r |
unshare | x* | S,setuid=t G,setgid=t R,root=r w,wd=l propagation=t setgroups=t map-user=t map-group=t
    kill-child?=t mount-proc?=t |
nsenter | x* | t,target=t S,setuid=t G,setgid=t r,root?=r w,wd?=l |
bwrap firejail systemd-nspawn | x* | bind=e ro-bind=r dev-bind=e chdir=l D,directory=e setenv=t unsetenv=t
    profile=r |
systemd-run | x* | u,unit=t p,property=t E,setenv=t M,machine=t slice=t uid=t gid=t working-directory=l
    on-calendar=t on-active=t on-boot=t d=t |
xvfb-run | x* | n=t s=t f=w e=w w=t p=t |
systemd-inhibit dbus-run-session dbus-launch | x* | n=t s=t a=t f=w e=w what=t who=t why=t mode=t |
start-stop-daemon | t* | a,startas=x x,exec=x p,pidfile=w d,chdir=l r=r u=t c=t g=t n=t |
watch | s* | n,interval=t d?=t q=t |
script | w | c,command=s E,echo=t I,log-in=w O,log-out=w B,log-io=w T,log-timing=w m=t o=t t?=t |
expect | r t* | c=c f=r |
strace ltrace dtruss | x* | o,output=w e,trace=t p,attach=t s=t a=t E,env=t u,user=t P=t S=t I=t O=t X=t b=t |
prlimit | x* | |
perf | t x* | o=w e=t p=t F=t |
perf/record perf/stat perf/trace | x* | o,output=w e,event=t p,pid=t F,freq=t i,input=r C=t c=t |
nix/develop | x* | |
nix-shell | e* | run=s command=s p=t I=r |
valgrind | x* | log-file=w | harmless
gdb lldb | r t* | ex,eval-command=c x,command=r iex,init-eval-command=c ix,init-command=r p,pid=t c=r one-line=c
    one-line-before-file=c S=r core=r s=r e=r d=l
    directory=l cd=l O=s o=s | single
rr | t x* | |
entr | x* | |
watchexec nodemon reflex watchmedo | x* | w=l e=t i=t W=l exts=t ignore=t r=t x,exec=s ext=t watch=l
    signal=t command=s |
hyperfine | s* | w,warmup=t r,runs=t m=t M=t p,prepare=s c,cleanup=s s,setup=s L=t P=t S,shell=t
    export-json=w export-csv=w export-markdown=w n=t |
direnv/exec | l x* | |
poetry/run uv/run pdm/run pipenv/run hatch/run rye/run conda/run micromamba/run bundle/exec nix/shell
    rbenv/exec pyenv/exec nodenv/exec asdf/exec mise/exec pixi/run | x* | n,name=t p,python=t prefix=r
    with=t extra=t group=t project=l directory=l env-file=r with-requirements=r with-editable=r m=t
    package=t index-url=t |
npx bunx pnpx pnpm/exec pnpm/dlx yarn/exec yarn/dlx npm/exec uvx pipx/run bun/x | x* | p,package=t c,call=s
    from=t with=t python=t spec=t |
dotenv | x* | f,file=r e=r |
op/run doppler/run chamber/exec aws-vault/exec | x* | env-file=r |
osascript | r t* | e=c l=t |
caffeinate | x* | t=t w=t | harmless
proxychains proxychains4 torsocks tsocks | x* | f=r |
ssh-agent | x* | a=w t=t E=t |
at batch | t* | f=r q=t |
rlwrap | x* | f=r H=w |
faketime cpulimit choom | t x* | l=t p=t e=t n=t |
mosh | t t* | ssh=s client=x server=s p=t |
""")
