"""Programs that change the machine: disks, services, users, schedules, networks, containers."""

from shellgate.floor.arguments.usage_tables import table

USAGES = table("""
# names | operands | options with a value | marks
mkfs mke2fs mkswap mkntfs mkdosfs newfs newfs_apfs newfs_hfs | w* | t,type=t |
fdisk sfdisk cfdisk gdisk sgdisk parted partprobe wipefs blkdiscard hdparm sdparm badblocks e2fsck fsck
    tune2fs resize2fs e2label xfs_repair xfs_growfs btrfs lvremove pvcreate pvremove vgcreate lvcreate
    cryptsetup mdadm nvme zpool zfs kpartx dmsetup eject blockdev | w* | |
losetup | w* | |
mount | r w | t,types=t o,options=t L=t U=t bind=r B=r R=r M=r |
umount swapon swapoff sync pivot_root switch_root | e* | |
diskutil asr hdiutil | t w* | |
kill | t* | s,signal=t n=t |
pkill killall killall5 skill xkill | t* | u=t g=t s=t t=t P=t signal=t |
shutdown reboot halt poweroff init telinit | t* | |
systemctl service launchctl rc-service initctl supervisorctl pm2 | t e* | H=t M=t p=t n=t o=t root=e |
crontab | r | u=t |
journalctl dmesg | t* | u=t n=t S=t U=t o=t p=t b=t D=r file=r since=t until=t unit=t |
useradd userdel usermod groupadd groupdel groupmod adduser deluser passwd chpasswd chsh chfn visudo gpasswd
    | t* | d=w m=t s=t g=t G=t u=t c=t k=r R=r P=r |
sysctl modprobe insmod rmmod setenforce update-grub grub-install iptables ip6tables nft ufw firewall-cmd ip
    ifconfig route tc ethtool iw hostnamectl timedatectl localectl loginctl | e* | f=r p=r |
update-alternatives alternatives ldconfig dpkg-reconfigure | e* | |
apt apt-get aptitude yum dnf zypper pacman apk brew port snap flatpak emerge nix nix-env dpkg rpm installer
    softwareupdate choco winget scoop | t e* | o=t c=r f=r t=t y=t C=r |
docker podman nerdctl | e* | |
docker-compose | e* | |
kubectl oc helm k9s kustomize minikube kind k3s | t e* | |
ansible | t* | a,args=s i=t m=t c=t e=t u=t l=t f=t |
terraform tofu pulumi ansible-playbook vagrant packer | e* | | single
aws gcloud az doctl heroku flyctl fly vercel netlify wrangler gsutil s3cmd | e* | | single
gh/gist glab/snippet | t r* | d,desc=t f,filename=t |
gh/api glab/api | t* | F,field=e f,raw-field=t H=t X=t q,jq=t t=t input=r |
gh/release | t t e* | D,dir=w O,output=w F,notes-file=r n,notes=t t,title=t p,pattern=t R=t A=t |
gh/run gh/repo | t t e* | D,dir=w n,name=t R=t p=t |
gh glab hub | t t* | b,body=t t,title=t F,body-file=r m=t f=t R=t H=t B=t d=t q,jq=t n=t notes=t
    notes-file=r l=t a=t input=r |
curl | t* | o,output=w K,config=r d,data,data-ascii,data-binary=t data-raw=t data-urlencode=t json=t
    F,form=t form-string=t T,upload-file=r H,header=t X,request=t A,user-agent=t b,cookie=t c,cookie-jar=w
    D,dump-header=w e,referer=t E,cert=r key=r cacert=r capath=r u,user=t x,proxy=t w,write-out=t
    m,max-time=t r,range=t C,continue-at=t y=t Y=t z=t t=t Q=t P=t U=t connect-timeout=t retry=t
    retry-delay=t retry-max-time=t max-filesize=t max-redirs=t limit-rate=t resolve=t connect-to=t
    output-dir=w trace=w trace-ascii=w stderr=w netrc-file=r interface=t dns-servers=t url=t variable=t
    hsts=w alt-svc=w unix-socket=r abstract-unix-socket=t egd-file=r random-file=r libcurl=w etag-save=w
    etag-compare=r ciphers=t tls-max=t proto=t proto-redir=t noproxy=t parallel-max=t rate=t oauth2-bearer=t
    |
wget wget2 | t* | O,output-document=w o,output-file=w a,append-output=w i,input-file=r P,directory-prefix=w
    B,base=t U,user-agent=t header=t post-data=t post-file=r body-data=t body-file=r method=t user=t
    password=t load-cookies=r save-cookies=w ca-certificate=r certificate=r private-key=r config=r
    e,execute=t use-askpass=s t,tries=t T,timeout=t w,wait=t Q,quota=t l,level=t A,accept=t R,reject=t I=t
    X=t D=t limit-rate=t warc-file=w hsts-file=w default-page=t cut-dirs=t referer=t rejected-log=w
    egd-file=r random-file=r | descends=r,recursive,m,mirror
http https xh httpie | t t* | o,output=w session=w a,auth=t cert=r verify=t proxy=t |
aria2c axel | t* | o,out=w d,dir=w i,input-file=r l,log=w conf-path=r on-download-complete=s save-session=w
    x=t s=t j=t c=t |
nc ncat netcat | t* | e,exec=s c,sh-exec=s lua-exec=r p=t s=t w=t i=t q=t o=w |
socat | t* | |
telnet ftp tftp dig nslookup host ping ping6 traceroute tracepath mtr whois nmap openvpn wg arp | t* | f=r
    c=t i=t W=t w=t s=t t=t p=t k=r |
ssh | t x* | i=r F=r o=t p=t l=t L=t R=t D=t J=t E=w S=w W=t b=t c=t e=t m=t O=t Q=t w=t I=e |
sshfs autossh ssh-add ssh-copy-id ssh-keyscan | e* | i=r F=r |
tmux screen zellij | t* | S=w L=t f=r c=s X=t |
xdg-open open start | r* | |
pbcopy pbpaste xclip xsel wl-copy wl-paste | t* | i=t o=t selection=t |
security defaults plutil scutil csrutil spctl codesign tccutil nvram | e* | |
strip objcopy | w* | o=w |
""")
