"""Programs that only read or print: what agents run most."""

from shellgate.floor.arguments.usage_tables import table

USAGES = table("""
# names | operands | options with a value | marks
cat rev | r* | | harmless
tac | r* | s,separator=t | harmless
nl | r* | b,body-numbering=t d=t f=t h=t i,line-increment=t l=t n,number-format=t s,number-separator=t v=t
    w=t | harmless
fold expand unexpand fmt | r* | w,width=t t,tabs=t p=t g=t | harmless
head tail | r* | n,lines=t c,bytes=t s,sleep-interval=t pid=t max-unchanged-stats=t | harmless
wc | r* | files0-from=r total=t | harmless unless=files0-from
cksum sum md5 md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum b3sum shasum crc32 | r* |
    a,algorithm=t l,length=t | harmless
ls dir vdir exa eza lsd | l* | I,ignore=t hide=t w,width=t T,tabsize=t block-size=t color?=t sort=t time=t
    time-style=t format=t quoting-style=t indicator-style=t L,level=t | harmless
tree | l* | L=t P=t I=t o=w H=t T=t charset=t filelimit=t sort=t gitfile=r fromfile=r | harmless unless=o,R
stat | l* | c,format=t printf=t | harmless
file | r* | m,magic-file=r f,files-from=r F,separator=t e,exclude=t P,parameter=t | harmless unless=f,files-from
du | l* | d,max-depth=t B,block-size=t exclude=t X,exclude-from=r t,threshold=t files0-from=r time?=t I=t |
    harmless unless=files0-from
df | l* | B,block-size=t t,type=t x,exclude-type=t output?=t | harmless
readlink realpath | l* | relative-to=l relative-base=l | harmless
basename dirname | t* | s,suffix=t | harmless
pathchk | t* | | harmless
cmp | r r t t | i,ignore-initial=t n,bytes=t | harmless
diff colordiff sdiff | r* | U,unified?=t C,context?=t I,ignore-matching-lines=t x,exclude=t X,exclude-from=r
    S,starting-file=t L,label=t W,width=t color?=t from-file=r to-file=r F,show-function-line=t tabsize=t
    o,output=w palette=t D,ifdef=t line-format=t old-line-format=t new-line-format=t unchanged-line-format=t
    horizon-lines=t | harmless unless=o,output descends=r,recursive
diff3 | r* | L,label=t diff-program=x | harmless unless=diff-program
comm | r r | output-delimiter=t | harmless
join | r r | 1=t 2=t a=t e=t j=t o=t t=t v=t | harmless
paste | r* | d,delimiters=t | harmless
cut | r* | b,bytes=t c,characters=t d,delimiter=t f,fields=t output-delimiter=t | harmless
tr | t* | | harmless
column | r* | s,separator=t o,output-separator=t c,output-width=t N,table-columns=t R,table-right=t
    H,table-hide=t E,table-noextreme=t W,table-wrap=t n,table-name=t O,table-order=t C,table-column=t |
    harmless
uniq | r w | f,skip-fields=t s,skip-chars=t w,check-chars=t group?=t all-repeated?=t | harmless
sort | r* | k,key=t t,field-separator=t o,output=w S,buffer-size=t T,temporary-directory=w batch-size=t
    parallel=t sort=t files0-from=r compress-program=x random-source=r | harmless
    unless=o,output,T,temporary-directory,compress-program,files0-from
shuf | r* | n,head-count=t i,input-range=t o,output=w random-source=r | harmless unless=o,output,e,echo
tsort | r | | harmless
ptx | r w | o,only-file=r i,ignore-file=r b,break-file=r |
od | r* | A,address-radix=t t,format=t N,read-bytes=t j,skip-bytes=t endian=t | harmless
hexdump hd | r* | e=t n=t s=t f=r | harmless
strings | r* | n,bytes=t t,radix=t e,encoding=t | harmless
base32 base64 basenc | r* | w,wrap=t i,input=r o,output=w b,break=t | harmless unless=o,output
xxd | r w | c,cols=t g,groupsize=t l,len=t o=t s,seek=t n,name=t R=t | harmless single unless=r,revert
zcat bzcat xzcat lzcat zstdcat gzcat | r* | | harmless
more | r* | n,lines=t | harmless
zless zmore most pygmentize glow | r* | o=w O=w |
bat batcat | r* | l,language=t style=t theme=t r,line-range=t H,highlight-line=t paging=t color=t pager=s
    config-file=r | harmless unless=pager,config-file
less | r* | p=t P=t b=t x=t y=t z=t j=t h=t t=t T=r o=w O=w k=r lesskey-src=r log-file=w LOG-FILE=w | harmless
jq gojq jaq | t r* | indent=t L=r f,from-file=r | harmless unless=f,from-file,L
yq xq tomlq | t r* | o,output-format=t p,input-format=t I,indent=t | harmless
    unless=i,inplace,in-place,s,split-exp,from-file
grep egrep fgrep zgrep pcregrep | t r* | e,regexp=t f,file=r m,max-count=t A,after-context=t
    B,before-context=t C,context=t d,directories=t D,devices=t color?=t colour?=t label=t include=t
    exclude=t exclude-from=r exclude-dir=t binary-files=t | harmless
    descends=r,R,recursive,dereference-recursive follows=R,dereference-recursive given=e,f
rg ripgrep ag ack ugrep | t r* | e,regexp=t f,file=r m,max-count=t A,after-context=t B,before-context=t
    C,context=t g,glob=t iglob=t t,type=t T,type-not=t j,threads=t M,max-columns=t E,encoding=t
    d,max-depth=t maxdepth=t r,replace=t color=t colors=t sort=t sortr=t type-add=t ignore-file=r pre=x
    hostname-bin=x pre-glob=t engine=t max-filesize=t dfa-size-limit=t context-separator=t path-separator=t
    G=t ignore=t ignore-dir=t path-to-ignore=r p=r pager=x output=t | harmless unless=pre,hostname-bin,pager
    descends=hidden,u,no-ignore,.,unrestricted follows=L,follow given=e,f,files
fd fdfind | t l* | e,extension=t t,type=t d,max-depth=t min-depth=t exact-depth=t E,exclude=t S,size=t
    changed-within=t changed-before=t o,owner=t c,color=t j,threads=t base-directory=l search-path=l
    ignore-file=r format=t | harmless
locate mlocate plocate | t* | d,database=r n,limit=t l=t |
look | t r | t,terminate=t | harmless
echo printf true false : yes seq expr factor | t* | | harmless
test [ [[ | l* | | single harmless
date | t* | d,date=t f,file=r r,reference=l s,set=t |
hostname | t* | F,file=r b=t |
cal ncal uptime tty arch nproc logname whoami users sw_vers lsb_release getconf | t* | | harmless
uname id groups | t* | | harmless
who w last lastlog | e* | | harmless
which whereis type whatis apropos help compgen | t* | | harmless
man info tldr | r* | P,pager=s C,config-file=r M,manpath=l s=t S=t B=t f=t H,html?=s o,output=w |
sleep usleep wait times jobs | t* | | harmless
ps pgrep pidof top htop free vmstat iostat lscpu lsmod lspci lsusb pstree | t* | o=t p=t u=t C=t U=t G=t g=t
    t=t s=t O=t n=t d=t | harmless unless=E
lsof | l* | i?=t p=t u=t c=t d=t s?=t F?=t | harmless
ss netstat | t* | D=w F,filter=r A=t f=t | harmless
fuser | l* | n,namespace=t s=t |
lshw | t* | dump=w class=t C=t businfo=t disable=t enable=t | single
lsblk blkid findmnt smartctl | r* | o,output=t |
pwd dirs shift return exit break continue | t* | | harmless
set unset readonly declare typeset local getopts let shopt ulimit umask logout suspend disown bg fg bind
    caller complete compopt | t* | o=t p=t O=t v=t f=t n=t u=t a=t A=t x=t |
history fc | e* | d=t s=t p=t e=t |
cd chdir | l | | harmless
pushd popd | l | | harmless
read readarray mapfile | t* | d=t n=t N=t p=t t=t u=t a=t i=t O=t s=t c=t | harmless
cloc tokei scc | r* | exclude-dir=t include-lang=t e,exclude=t t,type=t s,sort=t o,output=t out=w
    report-file=w list-file=r | unless=out,report-file
printenv | t* | |
ldd | r* | |
cksfv nm objdump readelf size otool | r* | j,section=t M=t | harmless
pdfinfo identify exiftool mediainfo ffprobe | e* | | single
""")
